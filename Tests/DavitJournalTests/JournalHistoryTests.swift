import DavitHTTP
import DavitJournal
import DavitStore
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Compares a journal with a simple traversal: an old state plus the reported changes equals the new state.
struct JournalHistoryTests {
    /// Every path with the values that a client compares.
    typealias Tree = [String: String]

    static let histories = [(seed: UInt64(1), limit: Int.max), (2, .max), (3, 2), (4, 0), (5, .max), (6, 5)]

    @Test(arguments: TestExtent.sample(of: histories, every: 3))
    func oldStatePlusChangesIsTheNewState(seed: UInt64, limit: Int) throws {
        var generator = SeededGenerator(seed: seed)
        let test = try TestJournal {
            $0.watchLimit = limit
            $0.removalLimit = 1_000_000
        }
        var states: [(token: SyncToken, tree: Tree)] = [(try test.first(), [:])]
        var done: [String] = []
        for step in 0..<120 {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                done.append(Self.command(&generator))
                test.shell(done.last!)
            }
            switch Int.random(in: 0..<40, using: &generator) {
            case 0:
                test.stop()
                test.shell(Self.command(&generator))
                try test.restart()
            case 1: test.journal.forgetEvents()
            case 2...12: continue
            default: break
            }
            let (token, old) = states[Int.random(in: 0..<states.count, using: &generator)]
            let (changes, next) = try test.changes(since: token)
            let actual = Self.walk(test.folder.path)
            let known = Self.apply(changes, to: old, seeing: actual)
            let differing = Set(known.keys).union(actual.keys).filter { known[$0] != actual[$0] }.sorted()
            try #require(
                differing.isEmpty,
                "seed \(seed), step \(step): \(differing.map { ($0, known[$0], actual[$0]) }), \(changes), \(done)"
            )
            done = []
            states.append((next, actual))
        }
    }

    private static func command(_ generator: inout SeededGenerator) -> String {
        let names = ["a", "b", "c", "d", "a/b", "a/c", "b/a", "a/b/c", "b/a/c/d", "c/d"]
        let (x, y) = (names.randomElement(using: &generator)!, names.randomElement(using: &generator)!)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0...2: return "echo \(UInt64.random(in: 0...999, using: &generator)) > \(x)"
        case 3: return "echo 1 >> \(x)"
        case 4...5: return "mkdir -p \(x)"
        case 6: return "rm -rf \(x)"
        case 7...8: return "mv -T \(x) \(y)"
        case 9: return "cp -rT \(x) \(y)"
        case 10: return "touch -d @\(Int.random(in: 1...99, using: &generator)) \(x)"
        case 11: return "ln \(x) \(y)"
        case 12: return "ln -s $PWD/\(x) \(y)"
        default: return "rm -f \(x); mkdir -p \(x)/d; echo 1 > \(x)/d/c"
        }
    }

    /// Applies changes like a client: removes a removed item with all its descendants, and fetches a changed
    /// item again.
    private static func apply(_ changes: [String], to old: Tree, seeing actual: Tree) -> Tree {
        var tree = old
        for change in changes where change.hasPrefix("-") {
            let path = change.dropFirst()
            tree = tree.filter { $0.key != path && !$0.key.hasPrefix(path + "/") }
        }
        for change in changes where change.hasPrefix("+") {
            let path = String(change.dropFirst())
            // A folder that was replaced by a file has no members.
            if actual[path] != "folder" { tree = tree.filter { !$0.key.hasPrefix(path + "/") } }
            tree[path] = actual[path]
        }
        return tree
    }

    /// Returns the tree as `find` lists it. Links to folders are leaves; other links are replaced by their
    /// targets, or omitted if dangling.
    private static func walk(_ root: String) -> Tree {
        var tree: Tree = [:]
        let text = """
            cd '\(root)' && find . -mindepth 1 -type f -printf '%P file %i %s %T@\\n' -o -type d -printf '%P folder\\n' \
            -o -type l -exec sh -c 'v=$(stat -L -c "%F %i %s %.9Y" "$1") && echo "${1#./} $v"' _ {} \\; 2>/dev/null
            """
        guard let pipe = unsafe popen(text, "r") else { return tree }
        defer { unsafe _ = pclose(pipe) }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe fread(&piece, 1, piece.count, pipe), count > 0 {
            output += piece[..<count]
        }
        for line in output.split(separator: 10) {
            let parts = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            tree[String(parts[0])] = Self.value(String(parts[1]))
        }
        return tree
    }

    private static func value(_ text: String) -> String? {
        if text == "folder" { return text }
        if text.hasPrefix("directory") { return "link" }
        let words = text.split(separator: " ").suffix(3)
        guard let dot = words.last?.firstIndex(of: ".") else { return nil }
        // One of the two programs prints nanoseconds with ten digits.
        return words.dropLast().joined(separator: " ") + " " + (words.last ?? "")[..<dot]
            + (words.last ?? "")[dot...].prefix(10)
    }
}

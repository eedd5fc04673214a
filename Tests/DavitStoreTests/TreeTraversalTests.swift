import DavitHTTP
import DavitStore
import Testing

/// The order, the limits and the errors of a traversal.
struct TreeTraversalTests {
    @Test func membersOfACollectionPrecedeThoseOfItsSubcollections() throws {
        let tree = MemoryTree(["": ["b/", "x", "a/"], "b": ["1"], "a": ["c/", "2"], "a/c": ["3"]])
        #expect(
            try tree.visit() == [
                "b", "x", "a", "listed", "> a", "c", "2", "listed", "> c", "3", "listed", "<", "<", "> b",
                "1",
                "listed", "<", "<", "end",
            ])
        #expect(tree.mostOpen == 1)
    }

    @Test func directoryOrderIsKeptOnRequest() throws {
        let tree = MemoryTree(["": ["b/", "a/", "c/"], "a": [], "b": [], "c": []])
        let entered = try tree.visit(order: .asListed).filter { $0.hasPrefix(">") }
        #expect(entered == ["> b", "> a", "> c"])
    }

    @Test(arguments: [(1, 1), (2, 2), (Int.max, 3)]) func depthIsLimited(depth: Int, levels: Int) throws {
        let tree = MemoryTree(["": ["a/"], "a": ["b/"], "a/b": ["c"]])
        #expect(try tree.visit(depth: depth).count { $0 == "listed" } == levels)
    }

    @Test func skippedCollectionsAreNotEntered() throws {
        let tree = MemoryTree(["": ["a/", "b/"], "a": ["1"], "b": ["2"]])
        let visited = try tree.visit { $0 == "a" }
        #expect(visited == ["a", "b", "listed", "> b", "2", "listed", "<", "<", "end"])
    }

    @Test func membersCanBeSkippedAfterOthersWereReturned() throws {
        let tree = MemoryTree(["": ["a/", "b/", "c"], "a": ["1"], "b": ["2"]])
        var traversal = TreeTraversal(of: tree)
        try traversal.begin(at: .root, tree.info(of: ""))
        var member = Member()
        for _ in 0..<4 { _ = traversal.next(&member) }
        traversal.skip(Array("a".utf8))
        traversal.skip(Array("c".utf8))
        guard case .entered(let name) = traversal.next(&member) else {
            Issue.record("no collection was entered")
            return
        }
        #expect(name == Array("b".utf8))
    }

    @Test func linksAreEnteredOnlyOnRequestAndNeverBack() throws {
        let tree = MemoryTree(["": ["a/", "l>a"], "a": ["up>", "1"]])
        #expect(try tree.visit().filter { $0.hasPrefix(">") } == ["> a"])
        #expect(try tree.visit(followsLinks: true).filter { $0.hasPrefix(">") } == ["> a", "> l"])
    }

    @Test func ancestorsAreRecognized() throws {
        let tree = MemoryTree(["": ["a/"], "a": ["up>", "b/"], "a/b": []])
        var traversal = TreeTraversal(of: tree)
        try traversal.begin(at: .root, tree.info(of: ""))
        var member = Member()
        var found: [String: Bool] = [:]
        reading: while true {
            switch traversal.next(&member) {
            case .member: found[String(decoding: member.name, as: UTF8.self)] = traversal.isAncestor
            case .end: break reading
            default: break
            }
        }
        #expect(found == ["a": false, "up": true, "b": false])
    }

    @Test func unreadableCollectionsAreSkipped() throws {
        let tree = MemoryTree(["": ["a/", "b/", "c/"], "b": ["1", "!", "2"], "c": ["3"]])
        #expect(
            try tree.visit() == [
                "a", "b", "c", "listed", "! a: notFound", "> b", "1", "! busy", "<", "> c", "3", "listed",
                "<", "<", "end",
            ])
    }

    @Test func startThatCannotBeOpenedEndsTheTraversal() throws {
        let tree = MemoryTree([:])
        var traversal = TreeTraversal(of: tree)
        #expect(throws: StoreError.notFound) { try traversal.begin(at: .root, tree.info(of: "")) }
        var member = Member()
        guard case .end = traversal.next(&member) else {
            Issue.record("the traversal did not end")
            return
        }
        #expect(traversal.isAtEnd)
    }

    @Test func traversalCanBeStoppedAndBegunAgain() throws {
        let tree = MemoryTree(["": ["a/", "b"], "a": []])
        var traversal = TreeTraversal(of: tree)
        var member = Member()
        for _ in 0..<2 {
            try traversal.begin(at: .root, tree.info(of: ""))
            _ = traversal.next(&member)
            #expect(member.name == Array("a".utf8))
            traversal.stop()
            #expect(traversal.isAtEnd)
            #expect(tree.open == 0)
        }
    }

    /// The names exceed the memory limit, so the wide collection is read more than once.
    @Test func eachOfManyCollectionsIsEnteredOnceInOrder() throws {
        let prefix = String(repeating: "x", count: 200)
        let names = (10_000..<20_000).map { "\(prefix)\($0)" }
        var members = ["": names.shuffled().map { $0 + "/" }]
        for name in names { members[name] = ["in"] }
        let tree = MemoryTree(members)
        let visited = try tree.visit { $0.hasSuffix("7") }
        #expect(visited.count { $0 == "in" } == 9_000)
        #expect(
            visited.filter { $0.hasPrefix("> ") } == names.filter { !$0.hasSuffix("7") }.map { "> \($0)" })
        #expect(visited.count { $0.hasPrefix(prefix) } == 10_000)
        #expect(tree.openings[""].map { $0 > 1 } == true)
        #expect(tree.mostOpen == 1)
    }
}

/// A store of names. A name that ends in a slash is a collection, `name>path` is a link, and reading stops
/// with an error at `!`.
private final class MemoryTree: ResourceReader, @unchecked Sendable {
    private let members: [String: [String]]
    /// Number of times each collection was opened.
    private(set) var openings: [String: Int] = [:]
    fileprivate(set) var open = 0
    private(set) var mostOpen = 0

    init(_ members: [String: [String]]) { self.members = members }

    /// Returns a line for each event.
    /// - Parameter skips: Whether the member with this name is skipped.
    func visit(
        depth: Int = .max, followsLinks: Bool = false, order: TreeTraversal.Order = .byName,
        skips: (String) -> Bool = { _ in false }
    ) throws -> [String] {
        var traversal = TreeTraversal(of: self, followsLinks: followsLinks, order: order)
        try traversal.begin(at: .root, info(of: ""), depth: depth)
        var lines: [String] = []
        var member = Member()
        while true {
            let event = traversal.next(&member)
            let name = String(decoding: member.name, as: UTF8.self)
            switch event {
            case .member:
                lines.append(name)
                if skips(name) { traversal.skip(member.name) }
            case .listed: lines.append("listed")
            case .passed: if skips(name) { traversal.skip(member.name) }
            case .entered(let name): lines.append("> \(String(decoding: name, as: UTF8.self))")
            case .left: lines.append("<")
            case .interrupted(let error): lines.append("! \(error)")
            case .inaccessible(let name, let error):
                lines.append("! \(String(decoding: name, as: UTF8.self)): \(error)")
            case .end: return lines + ["end"]
            }
        }
    }

    func info(of path: String, isCollection: Bool = true) -> ResourceInfo {
        ResourceInfo(
            kind: isCollection ? .collection : .content, length: 0, modified: Timestamp(nanoseconds: 0),
            created: nil,
            identity: ResourceIdentity(inode: UInt64(bitPattern: Int64(path.hashValue)), birth: 0),
            volume: 1, isExecutable: false)
    }

    func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        let path = String(decoding: path.bytes, as: UTF8.self)
        guard let names = members[path] else { throw .notFound }
        openings[path, default: 0] += 1
        open += 1
        mostOpen = max(mostOpen, open)
        return Cursor(names, of: path, in: self)
    }

    func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        throw .failed(reason: "unused")
    }
    func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        throw .failed(reason: "unused")
    }
    func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int { throw .failed(reason: "unused") }

    private final class Cursor: MemberCursor {
        private var rest: ArraySlice<String>
        private let path: String
        private let tree: MemoryTree

        init(_ names: [String], of path: String, in tree: MemoryTree) {
            rest = names[...]
            self.path = path
            self.tree = tree
        }

        deinit { tree.open -= 1 }

        func next(_ member: inout Member) throws(StoreError) -> Bool {
            guard let entry = rest.popFirst() else { return false }
            if entry == "!" { throw .busy }
            if let arrow = entry.firstIndex(of: ">") {
                let target = String(entry[entry.index(after: arrow)...])
                member = Member(
                    name: Array(entry[..<arrow].utf8), info: tree.info(of: target),
                    canonicalPath: ResourcePath(unchecked: Array(target.utf8)))
                return true
            }
            let name = entry.hasSuffix("/") ? String(entry.dropLast()) : entry
            let full = path.isEmpty ? name : "\(path)/\(name)"
            member = Member(
                name: Array(name.utf8), info: tree.info(of: full, isCollection: entry.hasSuffix("/")))
            return true
        }
    }
}

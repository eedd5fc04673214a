import DavitFileStore
import DavitHTTP
import DavitJournal
import DavitStore
import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder with its journal, and shell commands that change the folder.
final class TestJournal {
    let folder: TemporaryFolder
    let stateFolder: TemporaryFolder
    let options: ShareJournal.Options
    let rules: ShareRules
    private(set) var journal: ShareJournal

    init(
        rules: ShareRules = ShareRules(), _ change: (inout ShareJournal.Options) -> Void = { _ in }
    ) throws {
        self.rules = rules
        folder = try TemporaryFolder()
        stateFolder = try TemporaryFolder()
        var options = ShareJournal.Options()
        options.walksInBackground = false
        change(&options)
        self.options = options
        journal = try Self.make(folder, stateFolder, rules, options)
    }

    private static func make(
        _ folder: TemporaryFolder, _ stateFolder: TemporaryFolder, _ rules: ShareRules,
        _ options: ShareJournal.Options
    ) throws -> ShareJournal {
        let store = try FileResourceStore(root: folder.path)
        return ShareJournal(
            of: store, seenThrough: store, rules: rules, stateFolder: stateFolder.path,
            background: .immediate, options: options, report: { _, _ in })
    }

    deinit { journal.close() }

    /// Closes the journal, as on server shutdown.
    func stop() { journal.close() }

    /// Opens the journal again.
    func restart() throws {
        journal.close()
        journal = try Self.make(folder, stateFolder, rules, options)
        journal.start()
    }

    /// Runs commands in the folder.
    @discardableResult
    func shell(_ commands: String) -> Int32 {
        unsafe system("cd '\(folder.path)' && { \(commands); } 2>/dev/null")
    }

    /// Returns the position of the journal after a full comparison.
    func position(_ path: ResourcePath = .root, isDeep: Bool = true) throws -> JournalPosition {
        let pass = JournalPass(path, isDeep: isDeep)
        while true {
            if let position = try journal.advance(pass) { return position }
        }
    }

    /// Returns all changes since a token, as `+path` and `-path`, sorted.
    func changes(
        since token: SyncToken, in path: String = "", isDeep: Bool = true
    ) throws -> (changes: [String], token: SyncToken) {
        let path = ResourcePath(unchecked: Array(path.utf8))
        let position = try position(path, isDeep: isDeep)
        #expect(token.isValid(at: position))
        var changes: [String] = []
        var known = token
        while true {
            let piece = try journal.changes(
                in: path, isDeep: isDeep, since: known, through: position.last, limit: 7)
            for change in piece {
                #expect(change.number > known.number)
                known.number = change.number
                known.base = max(known.base, known.number)
                if change.kind == .removed, change.number <= token.base { continue }
                let name = String(decoding: change.path.bytes, as: UTF8.self)
                changes.append((change.kind == .removed ? "-" : "+") + name)
            }
            if piece.isEmpty { break }
        }
        return (changes.sorted(), SyncToken(position))
    }

    /// Returns a token for the current state.
    func token() throws -> SyncToken { SyncToken(try position()) }

    /// Returns a token for the empty state.
    func first() throws -> SyncToken {
        let position = try position()
        return SyncToken(journal: position.journal, number: 0, base: position.last)
    }
}

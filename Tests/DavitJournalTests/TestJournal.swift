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

/// A folder with its journal, and somebody who changes what is in it.
final class TestJournal {
    let folder: TemporaryFolder
    let stateFolder: TemporaryFolder
    let options: ShareJournal.Options
    private(set) var journal: ShareJournal

    init(_ change: (inout ShareJournal.Options) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        stateFolder = try TemporaryFolder()
        var options = ShareJournal.Options()
        options.walksInBackground = false
        change(&options)
        self.options = options
        journal = try Self.make(folder, stateFolder, options)
    }

    private static func make(
        _ folder: TemporaryFolder, _ stateFolder: TemporaryFolder, _ options: ShareJournal.Options
    ) throws -> ShareJournal {
        let store = try FileResourceStore(root: folder.path)
        return ShareJournal(
            of: store, seenThrough: store, stateFolder: stateFolder.path, background: .immediate,
            options: options, report: { _, _ in })
    }

    deinit { journal.close() }

    /// Stops the server.
    func stop() { journal.close() }

    /// Starts it again.
    func restart() throws {
        journal.close()
        journal = try Self.make(folder, stateFolder, options)
        journal.start()
    }

    /// What people do in the folder.
    @discardableResult
    func shell(_ commands: String) -> Int32 {
        unsafe system("cd '\(folder.path)' && { \(commands); } 2>/dev/null")
    }

    /// What the journal knows when everything has been compared.
    func position(_ path: ResourcePath = .root, isDeep: Bool = true) throws -> JournalPosition {
        let pass = JournalPass(path, isDeep: isDeep)
        while true {
            if let position = try journal.advance(pass) { return position }
        }
    }

    /// All changes since a state, as `+path` and `-path`, sorted.
    func changes(
        since token: SyncToken, in path: String = "", isDeep: Bool = true
    ) throws -> (changes: [String], token: SyncToken) {
        let path = ResourcePath(unchecked: Array(path.utf8))
        let position = try position(path, isDeep: isDeep)
        #expect(token.isValid(at: position))
        var changes: [String] = []
        var after = token.number
        while true {
            let piece = try journal.changes(
                in: path, isDeep: isDeep, after: after, through: position.last, limit: 7)
            for change in piece {
                #expect(change.number > after)
                after = change.number
                if change.kind == .removed, change.number <= token.base { continue }
                let name = String(decoding: change.path.bytes, as: UTF8.self)
                changes.append((change.kind == .removed ? "-" : "+") + name)
            }
            if piece.isEmpty { break }
        }
        return (changes.sorted(), SyncToken(position))
    }

    /// The token of somebody who knows everything.
    func token() throws -> SyncToken { SyncToken(try position()) }

    /// The token of somebody who knows nothing.
    func first() throws -> SyncToken {
        let position = try position()
        return SyncToken(journal: position.journal, number: 0, base: position.last)
    }
}

internal import CSQLite
package import DavitHTTP
package import DavitStore

/// The rows of the change journal, `journal.sqlite`. Used by one thread at a time; every call may block.
///
/// All of it follows from the shared folder: a journal that is lost or damaged is made anew, and tokens of the old one are
/// refused.
package final class JournalDatabase {
    /// A start may have lost the last commits with the power, and with them numbers that clients know. The next ones lie
    /// so far above that none comes twice.
    private static let gap: Int64 = 1 << 32

    private let connection: Connection
    let statements: JournalStatements
    private let removalLimit: Int
    /// Names this journal, and no other.
    package let id: String
    /// The highest number given out.
    package private(set) var last: Int64
    /// Removals up to this number are forgotten.
    package private(set) var trimmed: Int64
    /// About how many removals there are: at least so many.
    private var removals: Int

    /// Opens the journal, or makes a new one.
    /// - Parameters:
    ///   - path: the file, in a folder that others cannot enter.
    ///   - newID: the name of a new journal.
    ///   - removalLimit: removals that are remembered; of more, the older half is forgotten.
    /// - Throws: `failed` also where the file is damaged, or something else.
    package init(path: String, removalLimit: Int, newID: () -> String) throws(StateError) {
        let error = unsafe davit_make_private_file(path)
        if error != 0 {
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "\(path): cannot be written (error \(error))")
        }
        let connection = try Connection(path: path, busyMilliseconds: 5000)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw .failed(reason: "journal.sqlite: no WAL in this folder")
        }
        try connection.promise(.processDeath)
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try JournalSchema.make(in: connection, id: newID)
        guard let id = try connection.texts("SELECT id FROM journal").first else {
            throw .failed(reason: "journal.sqlite is not whole")
        }
        self.id = id
        last = try connection.integer("SELECT last FROM journal") + Self.gap
        trimmed = try connection.integer("SELECT trimmed FROM journal")
        removals = Int(try connection.integer("SELECT count(*) FROM entry WHERE kind < 0"))
        self.removalLimit = removalLimit
        statements = try JournalStatements(on: connection)
        self.connection = connection
        try transaction { () throws(StateError) in }
    }

    /// True if there is such a file, whatever is in it.
    package static func exists(at path: String) -> Bool { unsafe davit_file_exists(path) != 0 }

    /// Removes a journal that nobody has open.
    package static func remove(at path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unsafe davit_remove_file(path + end) }
    }

    /// Commits what `body` does, or nothing of it.
    package func transaction<R, E: Error>(
        _ body: () throws(E) -> R, mapping: (StateError) -> E
    ) throws(E) -> R {
        let before = (last, trimmed, removals)
        func perform(_ step: () throws(StateError) -> Void) throws(E) {
            do throws(StateError) { try step() } catch { throw mapping(error) }
        }
        do throws(E) {
            try perform { () throws(StateError) in try statements.begin.run([]) }
            let result = try body()
            try perform { () throws(StateError) in
                try trim()
                if before.0 != last || before.1 != trimmed {
                    try statements.setNumbers.run([.integer(last), .integer(trimmed)])
                }
                try statements.commit.run([])
            }
            return result
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            (last, trimmed, removals) = before
            throw error
        }
    }

    private func transaction(_ body: () throws(StateError) -> Void) throws(StateError) {
        last += 1
        try transaction(body) { $0 }
    }

    // MARK: Folders

    package func folder(at path: ResourcePath) throws(StateError) -> JournalFolder? {
        try folders(statements.folderAt, [.blob(path.bytes)]).first
    }

    package func folder(_ id: Int64) throws(StateError) -> JournalFolder? {
        try folders(statements.folderOf, [.integer(id)]).first
    }

    /// The folders at and below a path that are there.
    package func folders(under path: ResourcePath) throws(StateError) -> [JournalFolder] {
        try folders(statements.foldersUnder, path.subtree)
    }

    private func folders(
        _ statement: borrowing Statement, _ values: [SQLValue]
    ) throws(StateError) -> [JournalFolder] {
        var folders: [JournalFolder] = []
        try statement.forEachRow(values) { row in folders.append(JournalFolder(row)) }
        return folders
    }

    /// A folder that was never read.
    package func addFolder(at path: ResourcePath) throws(StateError) -> JournalFolder {
        var id: Int64 = 0
        try statements.addFolder.forEachRow([.blob(path.bytes)]) { row in id = row.integer(0) }
        return JournalFolder(id: id, path: path, identity: ResourceIdentity(inode: 0, birth: 0))
    }

    package func set(_ folder: JournalFolder, isGone: Bool) throws(StateError) {
        try statements.setFolder.run([
            .integer(folder.id), .bits(folder.identity.inode), .integer(folder.identity.birth),
            .integer(isGone ? 1 : 0),
        ])
    }

    // MARK: Entries

    /// Also of a removed member; nil if there never was one.
    package func entry(_ name: [UInt8], in folder: Int64) throws(StateError) -> JournalEntry? {
        var entry: JournalEntry?
        try statements.entry.forEachRow([.integer(folder), .blob(name)]) { row in
            entry = JournalEntry(row, 0)
        }
        return entry
    }

    /// The members that are there.
    package func entries(in folder: Int64) throws(StateError) -> [[UInt8]: JournalEntry] {
        var entries: [[UInt8]: JournalEntry] = [:]
        try statements.entries.forEachRow([.integer(folder)]) { row in
            entries[row.blob(7)] = JournalEntry(row, 0)
        }
        return entries
    }

    /// Records a change, with the next number.
    package func put(_ entry: JournalEntry, _ name: [UInt8], in folder: Int64) throws(StateError) {
        last += 1
        if entry.isRemoved { removals += 1 }
        try statements.putEntry.run([.integer(folder), .blob(name), .integer(last)] + entry.values)
    }

    /// Records how a member is watched, which is no change.
    package func setVolatile(
        _ isVolatile: Bool, _ name: [UInt8], in folder: Int64
    ) throws(StateError) {
        try statements.setVolatile.run([.integer(folder), .blob(name), .integer(isVolatile ? 1 : 0)])
    }

    /// Records that all members are gone, each with a number of its own.
    package func removeEntries(in folder: Int64) throws(StateError) {
        let count = try statements.removeEntries.run([.integer(folder), .integer(last)])
        last += Int64(count)
        removals += count
    }

    /// The members at any depth that can change without an event.
    package func volatileEntries(
        under path: ResourcePath
    ) throws(StateError) -> [(folder: JournalFolder, name: [UInt8])] {
        var found: [(JournalFolder, [UInt8])] = []
        try statements.volatileUnder.forEachRow(path.subtree) { row in
            found.append((JournalFolder(row), row.blob(4)))
        }
        return found
    }

    private func trim() throws(StateError) {
        guard removals > removalLimit else { return }
        removals = Int(try connection.integer("SELECT count(*) FROM entry WHERE kind < 0"))
        guard removals > removalLimit else { return }
        var oldest: Int64?
        let kept = removalLimit / 2
        try statements.oldestKept.forEachRow([.integer(Int64(kept))]) { row in oldest = row.integer(0) }
        guard let oldest else { return }
        try statements.hide.run([.integer(oldest)])
        try statements.forget.run([.integer(oldest)])
        try statements.forgetFolders.run([])
        trimmed = oldest
        removals = kept
    }

    package func execute(_ sql: StaticString) throws(StateError) { try connection.execute(sql) }
}

extension JournalFolder {
    /// From four columns.
    fileprivate init(_ row: borrowing Row) {
        self.init(
            id: row.integer(0), path: ResourcePath(unchecked: row.blob(1)),
            identity: ResourceIdentity(
                inode: UInt64(bitPattern: row.integer(2)), birth: row.integer(3)))
    }
}

extension ResourcePath {
    /// The path itself, and from where and up to where all that is below it lies. "0" follows "/".
    var subtree: [SQLValue] {
        // No name has so many bytes.
        if isRoot { return [.blob([]), .blob([]), .blob(Array(repeating: 0xFF, count: 256))] }
        return [
            .blob(bytes), .blob(bytes + [UInt8(ascii: "/")]), .blob(bytes + [UInt8(ascii: "0")]),
        ]
    }
}

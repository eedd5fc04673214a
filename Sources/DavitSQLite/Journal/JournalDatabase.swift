internal import CSQLite
package import DavitHTTP
package import DavitStore

/// The database of the change journal, `journal.sqlite`. Used by one thread at a time; all calls may block.
///
/// Its contents are derived from the shared folder: a journal that is lost or damaged is created again, and
/// tokens of the old one are refused.
package final class JournalDatabase {
    /// A power loss may have lost the last commits, and with them numbers that clients already know. On each
    /// start, numbering continues after a gap that is larger than any such loss, so that no number is used
    /// twice.
    private static let gap: Int64 = 1 << 32

    private let connection: DatabaseConnection
    let statements: JournalStatements
    private let removalLimit: Int
    /// The unique id of this journal.
    package let id: String
    /// The highest number assigned so far.
    package private(set) var last: Int64
    /// Removals up to this number have been discarded.
    package private(set) var trimmed: Int64
    /// An upper bound on the number of removals.
    private var removals: Int

    /// Opens the journal, or creates a new one.
    /// - Parameters:
    ///   - path: the database file, in a folder that is not accessible to other users.
    ///   - newID: returns the id of a new journal.
    ///   - removalLimit: the maximum number of removals to store; when exceeded, the older half is discarded.
    /// - Throws: `failed`, including when the file is damaged or not a journal.
    package init(path: String, removalLimit: Int, newID: () -> String) throws(StateError) {
        let error = unsafe davit_make_private_file(path)
        if error != 0 {
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "cannot write \(path) (errno \(error))")
        }
        let connection = try DatabaseConnection(path: path, busyMilliseconds: 5000)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw .failed(reason: "journal.sqlite: the file system does not support WAL")
        }
        try connection.promise(.processDeath)
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try JournalSchema.make(in: connection, id: newID)
        guard let id = try connection.texts("SELECT id FROM journal").first else {
            throw .failed(reason: "journal.sqlite is incomplete")
        }
        self.id = id
        last = try connection.integer("SELECT last FROM journal") + Self.gap
        trimmed = try connection.integer("SELECT trimmed FROM journal")
        removals = Int(try connection.integer("SELECT count(*) FROM entry WHERE kind < 0"))
        self.removalLimit = removalLimit
        statements = JournalStatements(on: connection)
        self.connection = connection
        try transaction { () throws(StateError) in }
    }

    /// Whether the file exists, regardless of its contents.
    package static func exists(at path: String) -> Bool { unsafe davit_file_exists(path) != 0 }

    /// Removes a journal, which must not be open.
    package static func remove(at path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unsafe davit_remove_file(path + end) }
    }

    /// Commits the changes of `body`, or none if it throws.
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

    /// Returns the existing folders at and below a path.
    package func folders(under path: ResourcePath) throws(StateError) -> [JournalFolder] {
        try folders(statements.foldersUnder, path.subtree)
    }

    private func folders(
        _ statement: Statement, _ values: [SQLValue]
    ) throws(StateError) -> [JournalFolder] {
        var folders: [JournalFolder] = []
        try statement.forEachRow(values) { row in folders.append(JournalFolder(row)) }
        return folders
    }

    /// Adds a folder that has not been read yet.
    package func addFolder(at path: ResourcePath) throws(StateError) -> JournalFolder {
        var id: Int64 = 0
        try statements.addFolder.forEachRow([.blob(path.bytes)]) { row in id = row.integer(0) }
        return JournalFolder(id: id, path: path, identity: ResourceIdentity(inode: 0, birth: 0))
    }

    /// Records the identity of a folder, and that it exists.
    package func set(_ folder: JournalFolder) throws(StateError) {
        try set(folder.id, folder.identity, isGone: false)
    }

    /// Records that the folder no longer exists.
    package func setGone(_ folder: JournalFolder) throws(StateError) {
        try set(folder.id, ResourceIdentity(inode: 0, birth: 0), isGone: true)
    }

    private func set(_ id: Int64, _ identity: ResourceIdentity, isGone: Bool) throws(StateError) {
        try statements.setFolder.run([
            .integer(id), .bits(identity.inode), .integer(identity.birth), .integer(isGone ? 1 : 0),
        ])
    }

    // MARK: Entries

    /// Returns the entry of a member, existing or removed; nil if no entry is stored.
    package func entry(_ name: [UInt8], in folder: Int64) throws(StateError) -> JournalEntry? {
        var entry: JournalEntry?
        try statements.entry.forEachRow([.integer(folder), .blob(name)]) { row in
            entry = JournalEntry(row, 0)
        }
        return entry
    }

    /// Returns the entries of all existing members.
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

    /// Records whether a member is volatile, which does not count as a change.
    package func setVolatile(
        _ isVolatile: Bool, _ name: [UInt8], in folder: Int64
    ) throws(StateError) {
        try statements.setVolatile.run([.integer(folder), .blob(name), .integer(isVolatile ? 1 : 0)])
    }

    /// Deletes the entry of a name that is not a member.
    package func removeEntry(_ name: [UInt8], in folder: Int64) throws(StateError) {
        try statements.removeEntry.run([.integer(folder), .blob(name)])
    }

    /// Marks content as volatile, under all its names.
    /// - Returns: the names that were not marked before.
    package func takeForVolatile(
        _ identity: ResourceIdentity
    ) throws(StateError) -> [(folder: Int64, name: [UInt8])] {
        var names: [(Int64, [UInt8])] = []
        try statements.steadyNames.forEachRow([.bits(identity.inode), .integer(identity.birth)]) { row in
            names.append((row.integer(0), row.blob(1)))
        }
        for (folder, name) in names { try setVolatile(true, name, in: folder) }
        return names
    }

    /// Records the removal of all members, each with its own number.
    package func removeEntries(in folder: Int64) throws(StateError) {
        let count = try statements.removeEntries.run([.integer(folder), .integer(last)])
        last += Int64(count)
        removals += count
    }

    /// Returns the volatile entries of the folder at `path` and of all folders below it.
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
}

extension JournalFolder {
    /// Creates a folder from four columns.
    fileprivate init(_ row: borrowing ResultRow) {
        self.init(
            id: row.integer(0), path: ResourcePath(unchecked: row.blob(1)),
            identity: ResourceIdentity(
                inode: UInt64(bitPattern: row.integer(2)), birth: row.integer(3)))
    }
}

extension ResourcePath {
    /// The path itself, and the lower and upper bound of the paths below it. "0" is the character after "/".
    var subtree: [SQLValue] {
        // An upper bound: no name has this many bytes.
        if isRoot { return [.blob([]), .blob([]), .blob(Array(repeating: 0xFF, count: 256))] }
        return [
            .blob(bytes), .blob(bytes + [UInt8(ascii: "/")]), .blob(bytes + [UInt8(ascii: "0")]),
        ]
    }
}

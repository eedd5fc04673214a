package import DavitStore

extension SQLiteStateStore {
    /// Returns the problems that `PRAGMA quick_check` finds in a database, one line each; empty if there are none. Reads the entire
    /// file, but changes nothing: the database is neither created nor migrated.
    ///
    /// The caller must ensure that no server uses the database.
    /// - Parameter hasLog: whether a server that was killed has left a write-ahead log, `path` with the suffix `-wal`.
    /// - Throws: `failed` if the file cannot be opened.
    package static func quickCheck(at path: String, hasLog: Bool) throws(StateError) -> [String] {
        let connection = try DatabaseConnection(reading: path, hasLog: hasLog)
        do throws(StateError) {
            let lines = try connection.texts("PRAGMA quick_check")
            return lines == ["ok"] ? [] : lines
        } catch .failed(let reason) {
            // Some kinds of damage make the check itself fail.
            return [reason]
        }
    }
}

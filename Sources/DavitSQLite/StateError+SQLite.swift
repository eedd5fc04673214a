internal import CSQLite
internal import DavitStore

extension StateError {
    /// Creates an error from the latest error of a connection: 507 if the disk is full, otherwise 500.
    @safe init(sqlite connection: OpaquePointer?) {
        guard let connection = unsafe connection else {
            self = .failed(reason: "cannot open the database: out of memory")
            return
        }
        let code = unsafe sqlite3_extended_errcode(connection)
        let systemError = unsafe sqlite3_system_errno(connection)
        let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? "unknown error"
        let path = unsafe sqlite3_db_filename(connection, nil).map { unsafe String(cString: $0) } ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? "state.sqlite"
        self = StateError(code: code, systemError: systemError, message: message, database: name)
    }

    /// - Parameter code: an extended result code; its low byte is the primary code.
    /// - Parameter systemError: the `errno` of the failed system call.
    /// - Parameter database: the name of the database file.
    init(code: Int32, systemError: Int32, message: String, database: String = "state.sqlite") {
        switch code & 0xFF {
        case SQLITE_FULL:
            self = .outOfSpace
        case SQLITE_IOERR where davit_is_out_of_space(systemError) != 0,
            SQLITE_CANTOPEN where davit_is_out_of_space(systemError) != 0:
            self = .outOfSpace
        default:
            self = .failed(reason: "\(database): \(message) (code \(code))")
        }
    }
}

internal import CSQLite
package import DavitStore

/// A statement that is prepared when it runs for the first time: preparing all of them nearly doubles the instructions of opening a
/// share, and a server that is only read never runs most of them. Between runs it holds neither locks nor parameter values.
///
/// Used by one thread at a time. Keeps its connection open.
@safe package final class Statement {
    private let connection: DatabaseHandle
    private let sql: StaticString
    /// Owned.
    @safe @exclusivity(unchecked) private var prepared: OpaquePointer?

    /// - Parameter sql: a `StaticString`, so that text from a request can never become SQL.
    package init(_ sql: StaticString, on connection: borrowing DatabaseConnection) {
        self.connection = connection.owner
        self.sql = sql
    }

    deinit { unsafe sqlite3_finalize(prepared) }

    private func prepare() throws(StateError) -> OpaquePointer {
        if let prepared { return unsafe prepared }
        var opened: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.pointer, sql.utf8Start, Int32(sql.utf8CodeUnitCount),
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &opened, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            throw unsafe StateError(sqlite: connection.pointer)
        }
        unsafe prepared = opened
        return unsafe opened
    }

    /// Runs the statement to completion, ignoring result rows.
    /// - Returns: the number of rows changed by an INSERT, UPDATE or DELETE.
    @discardableResult
    package func run(_ values: [SQLValue]) throws(StateError) -> Int {
        try forEachRow(values) { _ in }
        return Int(unsafe sqlite3_changes64(connection.pointer))
    }

    /// Runs the statement to completion with `values` bound to its parameters in order, and passes each row
    /// to `body`.
    package func forEachRow(
        _ values: [SQLValue], _ body: (borrowing ResultRow) throws(StateError) -> Void
    ) throws(StateError) {
        let handle = try unsafe prepare()
        defer {
            // The result code repeats the error of the last step, which has already been thrown.
            unsafe sqlite3_reset(handle)
            unsafe sqlite3_clear_bindings(handle)
        }
        for (offset, value) in values.enumerated() {
            try unsafe bind(value, at: Int32(offset) + 1, of: handle)
        }
        while true {
            switch unsafe sqlite3_step(handle) {
            case SQLITE_ROW: try body(unsafe ResultRow(handle: handle))
            case SQLITE_DONE: return
            default: throw lastError
            }
        }
    }

    /// Runs the statement and returns whether there are any rows.
    package func hasRow(_ values: [SQLValue]) throws(StateError) -> Bool {
        var found = false
        try forEachRow(values) { _ in found = true }
        return found
    }

    /// The number of full-scan steps and sorts since the statement was prepared; 0 if indexes find and order
    /// all rows.
    var scanSteps: Int {
        status(SQLITE_STMTSTATUS_FULLSCAN_STEP) + status(SQLITE_STMTSTATUS_SORT)
    }

    /// The number of virtual machine steps since the statement was prepared: a measure of cost that is
    /// independent of system load.
    var steps: Int { status(SQLITE_STMTSTATUS_VM_STEP) }

    /// Whether SQLite accepts the statement. Prepares it, if it has not run yet.
    var isValid: Bool { unsafe (try? prepare()) != nil }

    private func status(_ counter: Int32) -> Int {
        guard let prepared else { return 0 }
        return Int(unsafe sqlite3_stmt_status(prepared, counter, 0))
    }

    private func bind(
        _ value: SQLValue, at index: Int32, of handle: OpaquePointer
    ) throws(StateError) {
        let code: Int32
        switch value {
        case .null:
            code = unsafe sqlite3_bind_null(handle, index)
        case .integer(let integer):
            code = unsafe sqlite3_bind_int64(handle, index, integer)
        case .text(var text):
            code = text.withUTF8 { bytes in
                unsafe davit_bind_text(handle, index, bytes.baseAddress, UInt64(bytes.count))
            }
        case .blob(let bytes):
            code = unsafe bytes.withUnsafeBytes { bytes in
                unsafe davit_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
            }
        }
        guard code == SQLITE_OK else { throw lastError }
    }

    private var lastError: StateError { unsafe StateError(sqlite: connection.pointer) }
}

/// The current row of a statement. Columns are numbered from 0, and their values are copied.
@safe package struct ResultRow: ~Copyable {
    private let handle: OpaquePointer

    fileprivate init(handle: OpaquePointer) { unsafe self.handle = handle }

    package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    package func flag(_ column: Int32) -> Bool { integer(column) != 0 }

    package func text(_ column: Int32) -> String {
        // Text is stored as UTF-8, so its bytes need no conversion that could fail.
        unsafe String(decoding: bytes(column), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8] { unsafe [UInt8](bytes(column)) }

    /// The values of all columns. A real number is null.
    package var values: [SQLValue] {
        (0..<(unsafe sqlite3_column_count(handle))).map { column in
            switch unsafe sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: .integer(integer(column))
            case SQLITE_TEXT: .text(text(column))
            case SQLITE_BLOB: .blob(blob(column))
            default: .null
            }
        }
    }

    /// Returns the bytes of a column, which are valid until the next step of the statement.
    private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }
}

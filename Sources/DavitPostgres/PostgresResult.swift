#if Postgres
internal import CPQ

/// The rows of a statement, in the memory in which libpq received them.
///
/// Rows and columns are numbered from 0. The readers throw `other` if the column is NULL or has another type. Reading a
/// number allocates nothing.
@safe package final class PostgresResult {
    private let handle: OpaquePointer
    /// The number of rows.
    package let count: Int
    private let columns: Int

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
        count = unsafe Int(PQntuples(handle))
        columns = unsafe Int(PQnfields(handle))
    }

    deinit { unsafe PQclear(handle) }

    /// The number of rows that INSERT, UPDATE or DELETE changed, or that SELECT returned; 0 for other statements.
    package var affectedRows: Int {
        guard let text = unsafe PQcmdTuples(handle) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        unsafe contains(row, column) && PQgetisnull(handle, Int32(row), Int32(column)) == 1
    }

    /// Returns a value of type `smallint`, `integer`, `bigint` or `xid8`.
    package func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        let bytes = try unsafe field(row, column)
        var value: UInt64 = 0
        for index in bytes.indices { unsafe value = value << 8 | UInt64(bytes[index]) }
        return switch bytes.count {
        case 2: Int64(Int16(truncatingIfNeeded: value))
        case 4: Int64(Int32(truncatingIfNeeded: value))
        case 8: Int64(bitPattern: value)
        default: throw mismatch(row, column)
        }
    }

    /// Returns a value of type `boolean`.
    package func flag(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        let bytes = try unsafe field(row, column)
        guard bytes.count == 1 else { throw mismatch(row, column) }
        return unsafe bytes[0] != 0
    }

    /// Returns a value of type `text` or `name`.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        unsafe String(decoding: try field(row, column), as: UTF8.self)
    }

    /// Returns a value of type `bytea`.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        unsafe [UInt8](try field(row, column))
    }

    /// Passes the bytes of a value to `body`, without copying them.
    package func withBytes<R>(
        _ row: Int, _ column: Int, _ body: (RawSpan) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        let bytes = try unsafe field(row, column)
        return try body(unsafe bytes.bytes)
    }

    /// Returns a value of type `uuid`.
    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> PostgresUUID {
        let bytes = try unsafe field(row, column)
        guard bytes.count == 16 else { throw mismatch(row, column) }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            unsafe halves.0 = halves.0 << 8 | UInt64(bytes[index])
            unsafe halves.1 = halves.1 << 8 | UInt64(bytes[index + 8])
        }
        return PostgresUUID(high: halves.0, low: halves.1)
    }

    /// Returns a value of type `timestamptz` in nanoseconds since 1970-01-01T00:00:00Z; infinities and times that
    /// `Int64` cannot represent are clamped.
    package func time(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        PostgresTime.nanoseconds(ofMicroseconds: try integer(row, column))
    }

    /// Returns a value of type `xid8`.
    package func transactionID(_ row: Int, _ column: Int) throws(PostgresError) -> UInt64 {
        UInt64(bitPattern: try integer(row, column))
    }

    /// The number of columns.
    package var columnCount: Int { columns }

    /// Returns the number of the type of a column in the catalog `pg_type`; 0 if there is no such column.
    package func type(ofColumn column: Int) -> UInt32 { unsafe PQftype(handle, Int32(column)) }

    private func contains(_ row: Int, _ column: Int) -> Bool {
        row >= 0 && row < count && column >= 0 && column < columns
    }

    /// The bytes of a value that is not NULL; valid as long as the result.
    private func field(_ row: Int, _ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard contains(row, column), unsafe PQgetisnull(handle, Int32(row), Int32(column)) == 0 else {
            throw mismatch(row, column)
        }
        return unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(handle, Int32(row), Int32(column)),
            count: Int(PQgetlength(handle, Int32(row), Int32(column))))
    }

    private func mismatch(_ row: Int, _ column: Int) -> PostgresError {
        PostgresError(.other, "the result has no value of the expected type in row \(row), column \(column)")
    }
}
#endif

#if Postgres
internal import CPQ
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A connection to a PostgreSQL server, for one thread at a time.
///
/// Calls block the calling thread, each until its deadline at most. The socket itself is never waited for in libpq,
/// because a stopped server still acknowledges TCP, and no timeout of the socket ends such a wait.
@safe public final class PostgresConnection {
    private var handle: OpaquePointer?
    /// Whether the connection can take a statement. Once it is lost, it stays so.
    public var isOpen: Bool { unsafe handle != nil }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - info: a connection string or URL of libpq. Name hosts by address: libpq resolves names without a deadline.
    ///   - timeout: for the whole of connecting and authenticating.
    public init(_ info: String, timeout: Duration) throws(PostgresError) {
        let deadline = ContinuousClock.now + timeout
        unsafe handle = PQconnectStart(info)
        guard let handle = unsafe handle else { throw PostgresError(.connectionLost, "libpq: no memory") }
        var state = unsafe PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else {
                throw lost(.connectionLost, unsafe Self.line(PQerrorMessage(handle)))
            }
            try wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
            state = unsafe PQconnectPoll(handle)
        }
        guard unsafe PQsetnonblocking(handle, 1) == 0 else {
            throw lost(.connectionLost, "the socket cannot be made non-blocking")
        }
    }

    deinit { if let handle = unsafe handle { unsafe PQfinish(handle) } }

    /// Closes the connection. A transaction that is open is rolled back by the server.
    public func close() {
        if let handle = unsafe handle { unsafe PQfinish(handle) }
        unsafe handle = nil
    }

    /// Runs one statement and returns its rows, each with its columns as text, `nil` for NULL.
    ///
    /// When the deadline passes, the connection is closed. The server gives up the statement and its transaction
    /// when it notices.
    ///
    /// - Parameters:
    ///   - parameters: for `$1` and so on, as text without a null character, `nil` for NULL.
    ///   - isCommit: whether the statement is COMMIT, so that a loss of the connection leaves its effect in doubt.
    public func run(
        _ statement: String, _ parameters: [String?] = [], isCommit: Bool = false, timeout: Duration
    ) throws(PostgresError) -> [[String?]] {
        let deadline = ContinuousClock.now + timeout
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        let copies = unsafe parameters.map { text in unsafe text.flatMap { unsafe strdup($0) } }
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        let values = unsafe copies.map { copy in unsafe copy.map { unsafe UnsafePointer($0) } }
        guard unsafe PQsendQueryParams(handle, statement, Int32(values.count), nil, values, nil, nil, 0) == 1
        else {
            // The statement may be sent all the same.
            throw lost(isCommit ? .inDoubt : .connectionLost, unsafe Self.line(PQerrorMessage(handle)))
        }
        do throws(PostgresError) {
            return unsafe try results(handle, isCommit: isCommit, until: deadline)
        } catch {
            let isLost = error.kind == .timedOut || error.kind == .connectionLost
            guard isCommit, isLost else { throw error }
            throw PostgresError(.inDoubt, state: error.state, error.message)
        }
    }

    private func results(
        _ handle: OpaquePointer, isCommit: Bool, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [[String?]] {
        var unsent = unsafe PQflush(handle)
        while unsent == 1 {
            try wait(POLLIN | POLLOUT, until: deadline)
            guard unsafe PQconsumeInput(handle) == 1 else { break }
            unsent = unsafe PQflush(handle)
        }
        var rows: [[String?]] = []
        var failure: PostgresError?
        while true {
            while unsafe PQisBusy(handle) == 1 {
                try wait(POLLIN, until: deadline)
                // The result reports an error.
                if unsafe PQconsumeInput(handle) == 0 { break }
            }
            guard let result = unsafe PQgetResult(handle) else { break }
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_TUPLES_OK: rows = unsafe Self.rows(of: result)
            case PGRES_COMMAND_OK where unsafe isCommit && String(cString: PQcmdStatus(result)) != "COMMIT":
                // The server answers COMMIT of a failed transaction with ROLLBACK, and not with an error.
                failure = PostgresError(
                    .other, state: "25P02", "the transaction had failed and is rolled back")
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            case PGRES_FATAL_ERROR:
                unsafe failure =
                    failure
                    ?? PostgresError(
                        state: Self.line(PQresultErrorField(result, 0x43)),
                        message: Self.line(PQresultErrorMessage(result)),
                        constraint: Self.line(PQresultErrorField(result, 0x6E)))
            default: throw lost(.connectionLost, "COPY is not supported")
            }
            if unsafe PQstatus(handle) != CONNECTION_OK { break }
        }
        if unsafe PQstatus(handle) != CONNECTION_OK {
            let message = unsafe failure?.message ?? Self.line(PQerrorMessage(handle))
            close()
            throw PostgresError(.connectionLost, state: failure?.state ?? "", message)
        }
        if let failure {
            if failure.kind == .connectionLost { close() }
            throw failure
        }
        return rows
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        unsafe (0..<PQntuples(result)).map { row in
            unsafe (0..<PQnfields(result)).map { column in
                unsafe PQgetisnull(result, row, column) == 1
                    ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }

    /// Waits for events of the socket. Closes the connection when the deadline passes.
    private func wait(_ events: some BinaryInteger, until deadline: ContinuousClock.Instant)
        throws(PostgresError)
    {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        while true {
            let left = (deadline - ContinuousClock.now).components
            guard left.seconds >= 0, left.attoseconds >= 0 else { throw lost(.timedOut, "no answer in time") }
            let milliseconds = min(left.seconds, 60) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
            var polled = unsafe pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            if unsafe poll(&polled, 1, Int32(milliseconds)) > 0 { return }
        }
    }

    private func lost(_ kind: PostgresError.Kind, _ message: String) -> PostgresError {
        close()
        return PostgresError(kind, message)
    }

    /// A text of libpq in one line.
    private static func line(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
#endif

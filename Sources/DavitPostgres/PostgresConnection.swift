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
@safe package final class PostgresConnection {
    private(set) var handle: OpaquePointer?
    /// The process of the server that served the connection, once that is lost: the server may not have ended it yet.
    private(set) var abandonedProcess: Int64?
    /// The names of the statements that the server has prepared.
    var prepared: [PreparedStatement: String] = [:]

    /// Identifies a statement by the address of its literal, and by the types of its parameters.
    struct PreparedStatement: Hashable {
        let text: UInt
        let types: [UInt32]

        init(_ queued: PostgresBatch.QueuedStatement) {
            text = unsafe UInt(bitPattern: queued.statement.text.utf8Start)
            types = queued.values.map(\.type)
        }
    }

    /// Whether the connection can take a statement. Once it is lost, it stays so.
    package var isOpen: Bool { unsafe handle != nil }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - info: a connection string or URL of libpq. Name hosts by address: libpq resolves names without a deadline.
    ///   - deadline: for the whole of connecting and authenticating.
    package init(_ info: String, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        unsafe handle = PQconnectStart(info)
        guard let handle = unsafe handle else { throw PostgresError(.connectionLost, "libpq: no memory") }
        // The default writes to standard error.
        _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // The only way to the SQLSTATE of an error before the connection is open.
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        var state = unsafe PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else {
                let error = PostgresError(ofConnecting: unsafe String(cString: PQerrorMessage(handle)))
                throw lost(error.kind, state: error.state, error.message)
            }
            try wait(state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
            state = unsafe PQconnectPoll(handle)
        }
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
            throw lost(.connectionLost, "the socket cannot be made non-blocking")
        }
    }

    deinit { if let handle = unsafe handle { unsafe PQfinish(handle) } }

    /// Closes the connection. A transaction that is open is rolled back by the server.
    package func close() {
        if let handle = unsafe handle { unsafe PQfinish(handle) }
        unsafe handle = nil
    }

    /// Whether a transaction is open, or has failed and is not rolled back yet.
    package var isInTransaction: Bool {
        guard let handle = unsafe handle else { return false }
        return unsafe PQtransactionStatus(handle) != PQTRANS_IDLE
    }

    /// Whether the server has sent nothing since the last answer. What it sends to an idle connection is most likely that it
    /// closes the connection.
    var isQuiet: Bool {
        guard let isReadable = try? poll(POLLIN, until: .now) else { return false }
        return !isReadable
    }

    /// Waits for events of the socket. Closes the connection when the deadline passes.
    func wait(_ events: some BinaryInteger, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard try poll(events, until: deadline) else { throw lost(.timedOut, "no answer in time") }
    }

    /// Waits for events of the socket. Returns whether there are any before the deadline.
    func poll(_ events: some BinaryInteger, until deadline: ContinuousClock.Instant) throws(PostgresError)
        -> Bool
    {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        while true {
            let left = (deadline - ContinuousClock.now).components
            let isPast = left.seconds < 0 || left.attoseconds < 0
            let milliseconds = min(left.seconds, 60) * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1
            var polled = unsafe pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            if unsafe Self.poll(&polled, 1, isPast ? 0 : Int32(milliseconds)) > 0 { return true }
            if isPast { return false }
        }
    }

    private static func poll(_ polled: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ milliseconds: Int32)
        -> Int32
    {
        #if canImport(Glibc)
        unsafe Glibc.poll(polled, count, milliseconds)
        #else
        unsafe Darwin.poll(polled, count, milliseconds)
        #endif
    }

    /// Closes the connection and returns the error.
    func lost(_ kind: PostgresError.Kind, state: String = "", _ message: String) -> PostgresError {
        if let handle = unsafe handle { abandonedProcess = unsafe Int64(PQbackendPID(handle)) }
        close()
        return PostgresError(kind, state: state, message)
    }

    /// A text of libpq in one line.
    static func line(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text).split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
#endif

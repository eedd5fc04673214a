#if Postgres
internal import CPQ
internal import DavitSystem
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Statements are sent in libpq's pipeline mode: preparing and running all statements of a batch is one round trip.
extension PostgresConnection {
    /// Runs one statement, see ``run(_:until:)``.
    @discardableResult
    package func run(
        _ statement: PostgresStatement, _ values: PostgresValue..., until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresResult {
        var batch = PostgresBatch()
        batch.add(PostgresBatch.QueuedStatement(statement: statement, values: values, isCommit: false))
        return try run(batch, until: deadline)[0]
    }

    /// Runs the statements of a batch and returns their results, one for each.
    ///
    /// If a statement fails, the following ones are not run, and its error is thrown; the connection stays open, and
    /// a transaction that was open remains to be rolled back. When the deadline passes, the connection is closed; the
    /// server gives up the statement and its transaction when it notices.
    ///
    /// - Throws: `inDoubt` if the connection is lost and the batch contains COMMIT.
    package func run(
        _ batch: PostgresBatch, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresResult] {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        var isCommitSent = false
        do throws(PostgresError) {
            let sent = try unsafe send(batch, to: handle, &isCommitSent)
            try unsafe flush(handle, until: deadline)
            FileFaults.step("statements-sent")
            let results = try unsafe receive(sent, of: batch, from: handle, until: deadline)
            FileFaults.step("statements-answered")
            return results
        } catch {
            let isLost = error.kind == .timedOut || error.kind == .connectionLost
            guard isCommitSent, isLost else { throw error }
            throw PostgresError(.inDoubt, state: error.state, error.message)
        }
    }

    /// What the server answers, in order.
    private enum Answer {
        case prepared(PreparedStatement, name: String)
        case result(isCommit: Bool)
    }

    private func send(
        _ batch: PostgresBatch, to handle: OpaquePointer, _ isCommitSent: inout Bool
    ) throws(PostgresError) -> [Answer] {
        var answers: [Answer] = []
        var preparing: [PreparedStatement: String] = [:]
        for queued in batch.statements {
            let statement = PreparedStatement(queued)
            let name: String
            if let known = prepared[statement] ?? preparing[statement] {
                name = known
            } else {
                name = "s\(prepared.count + preparing.count)"
                preparing[statement] = name
                answers.append(.prepared(statement, name: name))
                let isSent = unsafe PQsendPrepare(
                    handle, name, queued.statement.bytes, Int32(statement.types.count), statement.types)
                guard isSent == 1 else {
                    throw unsafe lost(.connectionLost, Self.line(PQerrorMessage(handle)))
                }
            }
            // Kills this process when the server has only got the statements before this one.
            FileFaults.step("statement") { unsafe _ = PQflush(handle) }
            // Even if libpq reports an error, the statement may be sent.
            isCommitSent = isCommitSent || queued.isCommit
            try unsafe send(queued.values, to: name, of: handle)
            answers.append(.result(isCommit: queued.isCommit))
        }
        FileFaults.step("pipeline-sync") { unsafe _ = PQflush(handle) }
        guard unsafe PQpipelineSync(handle) == 1 else {
            throw unsafe lost(.connectionLost, Self.line(PQerrorMessage(handle)))
        }
        return answers
    }

    private func send(
        _ values: [PostgresValue], to name: String, of handle: OpaquePointer
    ) throws(PostgresError) {
        var buffer: [UInt8] = []
        var ranges: [Range<Int>?] = []
        for value in values {
            let start = buffer.count
            ranges.append(value.encode(into: &buffer) ? start..<buffer.count : nil)
        }
        // An empty value needs an address too, because nil means NULL.
        buffer.append(0)
        let isSent = unsafe buffer.withUnsafeBytes { bytes in
            let pointers = unsafe ranges.map { range in
                unsafe range.flatMap { range in
                    unsafe bytes.baseAddress.map { start in
                        unsafe (start + range.lowerBound).assumingMemoryBound(to: CChar.self)
                    }
                }
            }
            return unsafe PQsendQueryPrepared(
                handle, name, Int32(values.count), pointers, ranges.map { Int32($0?.count ?? 0) },
                [Int32](repeating: 1, count: values.count), 1)
        }
        guard isSent == 1 else { throw unsafe lost(.connectionLost, Self.line(PQerrorMessage(handle))) }
    }

    func flush(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        var unsent = unsafe PQflush(handle)
        while unsent == 1 {
            try wait(POLLIN | POLLOUT, until: deadline)
            // If this fails, the result reports the error.
            guard unsafe PQconsumeInput(handle) == 1 else { return }
            unsent = unsafe PQflush(handle)
        }
    }

    /// Returns the next result, or nil at the end of the results of a statement.
    func nextResult(
        _ handle: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> OpaquePointer? {
        while unsafe PQisBusy(handle) == 1 {
            try wait(POLLIN, until: deadline)
            // The result reports an error.
            if unsafe PQconsumeInput(handle) == 0 { break }
        }
        return unsafe PQgetResult(handle)
    }

    private func receive(
        _ answers: [Answer], of batch: PostgresBatch, from handle: OpaquePointer,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresResult] {
        var results: [PostgresResult] = []
        results.reserveCapacity(batch.count)
        var failure: PostgresError?
        for answer in answers {
            guard let received = try unsafe nextResult(handle, until: deadline) else { break }
            let result = unsafe PostgresResult(received)
            switch unsafe PQresultStatus(received) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                switch answer {
                case .prepared(let statement, let name): prepared[statement] = name
                case .result(let isCommit):
                    results.append(result)
                    // The server answers COMMIT of a failed transaction with ROLLBACK, and not with an error.
                    if isCommit, unsafe String(cString: PQcmdStatus(received)) != "COMMIT" {
                        failure = PostgresError(
                            .other, state: "25P02", "the transaction had failed and is rolled back")
                    }
                }
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_FATAL_ERROR: if failure == nil { failure = unsafe Self.error(received) }
            default: throw lost(.connectionLost, "COPY is not supported")
            }
            guard unsafe PQstatus(handle) == CONNECTION_OK else { break }
            // The end of the results of this statement.
            guard try unsafe nextResult(handle, until: deadline) == nil else {
                throw lost(.connectionLost, "unexpected result")
            }
        }
        let isAnswered = failure == nil && results.count == batch.count
        if unsafe !isAnswered
            && (failure == nil || failure?.kind == .connectionLost || PQstatus(handle) != CONNECTION_OK)
        {
            let message = unsafe failure?.message ?? Self.line(PQerrorMessage(handle))
            throw lost(.connectionLost, state: failure?.state ?? "", message)
        }
        do throws(PostgresError) { try unsafe receiveSync(handle, until: deadline) } catch {
            // After COMMIT is answered, the connection's further fate does not matter to the caller. Without a transaction,
            // the end of the pipeline commits.
            guard isAnswered, batch.endsWithCommit else { throw failure ?? error }
        }
        if let failure { throw failure }
        return results
    }

    private func receiveSync(
        _ handle: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard let sync = try unsafe nextResult(handle, until: deadline) else {
            throw lost(.connectionLost, unsafe Self.line(PQerrorMessage(handle)))
        }
        defer { unsafe PQclear(sync) }
        switch unsafe PQresultStatus(sync) {
        case PGRES_PIPELINE_SYNC: return
        case PGRES_FATAL_ERROR:
            // For example a constraint that is checked when the statements are committed.
            let error = unsafe Self.error(sync)
            throw lost(error.kind, state: error.state, error.message)
        default: throw lost(.connectionLost, "unexpected result")
        }
    }

    /// The error that a result reports.
    static func error(_ result: OpaquePointer) -> PostgresError {
        unsafe PostgresError(
            state: line(PQresultErrorField(result, 0x43)), message: line(PQresultErrorMessage(result)),
            constraint: line(PQresultErrorField(result, 0x6E)))
    }
}
#endif

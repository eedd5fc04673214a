#if Postgres
internal import DavitSystem
internal import Synchronization

/// A limited number of connections to the primary.
///
/// Calls block the calling thread, so that they belong on the threads of a `BlockingPool` of its own, with as many threads
/// as connections. Threads that find no free connection wait in the order in which they came. After a connection could
/// not be opened, there is a pause before the next attempt, in which calls fail immediately if no other connection exists.
package final class PostgresPool: Sendable {
    /// A connection, which one thread uses at a time: the one that took it out of the pool's state.
    private final class Entry: @unchecked Sendable {
        let connection: PostgresConnection
        let timeline: Int64
        /// When it was used last.
        var usedAt = ContinuousClock.now

        init(_ opened: PostgresServers.Opened) {
            connection = opened.connection
            timeline = opened.timeline
        }
    }

    /// What a thread gets when it is its turn.
    private enum Grant: Sendable {
        case connection(Entry)
        /// It may open a connection, which is counted already.
        case opening
        case failure(PostgresError)
    }

    private final class Waiter: Sendable {
        let grant = Monitor<Grant?>(nil)

        func give(_ grant: Grant) {
            self.grant.withLock { $0 = grant }
            self.grant.signal()
        }
    }

    private struct State {
        /// The one that was used last is at the end.
        var idle: [Entry] = []
        var waiters: [Waiter] = []
        /// Connections that are idle, in use or being opened.
        var count = 0
        var isClosed = false
        var failure: PostgresError?
        /// Failures since the last success.
        var failureCount = 0
        /// Whether one thread tries to connect after a failure.
        var isRetrying = false
        var retryAt: ContinuousClock.Instant?
        var isComparing = false
        var comparedAt: ContinuousClock.Instant?
    }

    package let settings: PostgresSettings
    package let servers: PostgresServers
    let abandoned = Mutex(AbandonedSessions())
    private let state = Mutex(State())
    private let comparison = Monitor(())
    let now: @Sendable () -> ContinuousClock.Instant
    private let prepare: @Sendable (PostgresConnection, ContinuousClock.Instant) throws(PostgresError) -> Void

    /// - Parameters:
    ///   - servers: whose settings also are those of the pool. Connections are opened when they are needed.
    ///   - now: decides about pauses and comparisons of the servers.
    ///   - prepare: runs on each new connection before its first use; if it throws, the connection is not used.
    package init(
        _ servers: PostgresServers,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        prepare:
            @escaping @Sendable (PostgresConnection, ContinuousClock.Instant) throws(PostgresError) -> Void =
            {
                _, _ throws(PostgresError) in
            }
    ) {
        settings = servers.settings
        self.servers = servers
        self.now = now
        self.prepare = prepare
    }

    /// The number of connections, and of threads that wait for one.
    package var counts: (connections: Int, idle: Int, waiting: Int) {
        state.withLock { ($0.count, $0.idle.count, $0.waiters.count) }
    }

    /// The clock of the database.
    package var clock: PostgresClock { servers.clock }

    /// Closes all connections: idle ones immediately, others when they are returned. Waiting and further calls fail.
    package func close() {
        let (idle, waiters) = state.withLock { state in
            state.isClosed = true
            state.count -= state.idle.count
            defer { (state.idle, state.waiters) = ([], []) }
            return (state.idle, state.waiters)
        }
        for entry in idle { entry.connection.close() }
        for waiter in waiters { waiter.give(.failure(Self.closed)) }
    }

    /// Runs `body` with a connection, which is in no transaction. If `body` leaves one open, the connection is closed.
    ///
    /// - Parameters:
    ///   - deadline: for waiting and connecting.
    ///   - isReading: whether nothing is changed that must be confirmed by a standby.
    /// - Throws: `busy` if too many threads are waiting, the deadline passes, or earlier changes have not ended, see
    ///   ``PostgresSettings/abandonedSessions``; the error of the last attempt to connect.
    package func withConnection<T>(
        until deadline: ContinuousClock.Instant, isReading: Bool = false,
        _ body: (PostgresConnection) throws(PostgresError) -> T
    ) throws(PostgresError) -> T {
        if !isReading { try checkAbandoned(until: deadline) }
        let entry = try take(until: deadline)
        defer { put(entry) }
        return try body(entry.connection)
    }

    /// The time at which a connection can be opened again; nil if that is possible now.
    package var nextAttempt: ContinuousClock.Instant? {
        let time = now()
        return state.withLock { state in state.retryAt.flatMap { $0 > time ? $0 : nil } }
    }

    private static let closed = PostgresError(.connectionLost, "the pool is closed")

    // MARK: - Taking and returning

    private enum Admission {
        case grant(Grant)
        case wait(Waiter)
    }

    private func take(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Entry {
        compareServers(until: deadline)
        while true {
            let grant: Grant
            switch admit() {
            case .grant(let immediate): grant = immediate
            case .wait(let waiter): grant = wait(waiter, until: deadline)
            }
            switch grant {
            case .failure(let error): throw error
            case .opening: return try open(until: deadline)
            case .connection(let entry):
                // Asking takes a call of the system, which connections without a pause do not need.
                if isUsable(entry), .now - entry.usedAt < Self.quietTime || entry.connection.isQuiet {
                    return entry
                }
                // Closed by the server while it was idle. Its place is free for the next attempt.
                entry.connection.close()
                release()
            }
        }
    }

    private func admit() -> Admission {
        let time = now()
        return state.withLock { state in
            guard !state.isClosed else { return .grant(.failure(Self.closed)) }
            if state.waiters.isEmpty {
                if let entry = state.idle.popLast() { return .grant(.connection(entry)) }
                if state.count < settings.connections {
                    if Self.startOpening(&state, time) { return .grant(.opening) }
                    if state.count == 0, let failure = state.failure { return .grant(.failure(failure)) }
                }
            }
            guard state.waiters.count < settings.waiters else {
                return .grant(.failure(PostgresError(.busy, "too many requests wait for a connection")))
            }
            let waiter = Waiter()
            state.waiters.append(waiter)
            return .wait(waiter)
        }
    }

    /// Reserves a place for a new connection, unless there was a failure and the pause after it is not over.
    private static func startOpening(_ state: inout State, _ time: ContinuousClock.Instant) -> Bool {
        if state.failureCount > 0 {
            guard !state.isRetrying, state.retryAt.map({ $0 <= time }) ?? true else { return false }
            state.isRetrying = true
        }
        state.count += 1
        return true
    }

    private func wait(_ waiter: Waiter, until deadline: ContinuousClock.Instant) -> Grant {
        let limit = max(0, (deadline - .now).milliseconds)
        if let grant = waiter.grant.wait(milliseconds: limit, { $0 }) { return grant }
        let wasWaiting = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        if wasWaiting { return .failure(PostgresError(.busy, "no connection is free")) }
        // The thread that took it out of the list gives it something immediately.
        return waiter.grant.wait { $0 }
    }

    /// How long a connection is unused until it is examined whether the server has closed it.
    private static let quietTime = Duration.milliseconds(50)

    private func put(_ entry: Entry) {
        entry.usedAt = .now
        if let process = entry.connection.abandonedProcess { recordAbandoned(process) }
        guard isUsable(entry), !entry.connection.isInTransaction else {
            entry.connection.close()
            return release()
        }
        let waiter = state.withLock { state -> Waiter? in
            if state.isClosed {
                state.count -= 1
                entry.connection.close()
            } else if !state.waiters.isEmpty {
                return state.waiters.removeFirst()
            } else {
                state.idle.append(entry)
            }
            return nil
        }
        waiter?.give(.connection(entry))
    }

    private func isUsable(_ entry: Entry) -> Bool {
        entry.connection.isOpen && entry.timeline >= servers.highestTimeline
    }

    /// Gives up the place of a connection, and lets waiting threads open others.
    private func release() {
        state.withLock { $0.count -= 1 }
        grantOpenings()
    }

    private func grantOpenings() {
        let time = now()
        let grants = state.withLock { state -> [(Waiter, Grant)] in
            var grants: [(Waiter, Grant)] = []
            while state.count < settings.connections, !state.waiters.isEmpty, Self.startOpening(&state, time)
            {
                grants.append((state.waiters.removeFirst(), .opening))
            }
            // If there is no connection, none will be returned to those who wait.
            if state.count == 0, let failure = state.failure {
                grants += state.waiters.map { ($0, .failure(failure)) }
                state.waiters = []
            }
            return grants
        }
        for (waiter, grant) in grants { waiter.give(grant) }
    }

    // MARK: - Connecting

    private func open(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Entry {
        do throws(PostgresError) {
            let opened = try servers.open(until: deadline)
            do throws(PostgresError) { try prepare(opened.connection, deadline) } catch {
                opened.connection.close()
                throw error
            }
            state.withLock { state in
                (state.failureCount, state.failure, state.isRetrying, state.retryAt) = (0, nil, false, nil)
                state.comparedAt = state.comparedAt ?? now()
            }
            grantOpenings()
            return Entry(opened)
        } catch {
            let failure = error.ofUnavailableServer
            let time = now()
            state.withLock { state in
                (state.failure, state.isRetrying) = (failure, false)
                state.failureCount += 1
                let pause = Duration.milliseconds(25 << min(state.failureCount, 20))
                state.retryAt = time + min(pause, settings.longestPause)
            }
            release()
            throw failure
        }
    }

    /// Compares the servers if the last comparison is old: in the background, unless it is so old that another server may
    /// have been in use for long.
    private func compareServers(until deadline: ContinuousClock.Instant) {
        guard settings.servers.count > 1 else { return }
        let time = now()
        let (isDue, isOverdue) = state.withLock { state -> (Bool, Bool) in
            guard let last = state.comparedAt, time - last >= settings.comparisonInterval else {
                return (false, false)
            }
            let isOverdue = time - last >= settings.comparisonInterval * 2
            guard !state.isComparing else { return (false, isOverdue) }
            state.isComparing = true
            return (true, isOverdue)
        }
        if isDue,
            isOverdue || (try? SystemThread.start(named: "davit-servers") { [self] in compare() }) == nil
        {
            compare()
        } else if isOverdue {
            let limit = max(0, (deadline - .now).milliseconds)
            _ = comparison.wait(milliseconds: limit) { _ in state.withLock { $0.isComparing } ? nil : true }
        }
    }

    /// Compares the servers after a loss, when another one may have been promoted.
    func compareServersNow() {
        guard settings.servers.count > 1 else { return }
        let isFirst = state.withLock { state in
            defer { state.isComparing = true }
            return !state.isComparing
        }
        if isFirst { compare() }
    }

    private func compare() {
        servers.compare(until: .now + settings.connectTimeout * settings.servers.count)
        let time = now()
        let outdated = state.withLock { state -> [Entry] in
            (state.isComparing, state.comparedAt) = (false, time)
            let outdated = state.idle.filter { !isUsable($0) }
            state.idle.removeAll { !isUsable($0) }
            state.count -= outdated.count
            return outdated
        }
        for entry in outdated { entry.connection.close() }
        comparison.withLock { _ in }
        comparison.broadcast()
        grantOpenings()
    }
}

extension PostgresError {
    /// The error for callers that get no connection. Whatever the server refuses it for, such as a password that has been
    /// changed, callers can only try again later.
    fileprivate var ofUnavailableServer: PostgresError {
        switch kind {
        case .other, .notPermitted: PostgresError(.connectionLost, state: state, message)
        default: self
        }
    }
}
#endif

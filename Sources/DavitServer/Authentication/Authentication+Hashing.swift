internal import DavitHTTP
internal import Synchronization

/// Hashing of passwords that are not cached: the queue, its order, and the requests that wait.
extension Authentication {
    /// A name and password sent from one address; hashed once for all concurrent requests that carry them.
    struct PendingHash: Hashable, Sendable {
        var key: CredentialKeys.Key
        var address: Int
    }

    /// The value with which a queued request is resumed.
    enum Turn: Sendable {
        /// The request may hash its password now.
        case hash
        /// The same password was hashed for another address in the meantime; check the cache again.
        case again
        case refused(Refusal)
    }

    /// A request in the queue.
    struct WaitingRequest: Sendable {
        var key: CredentialKeys.Key?
        var continuation: CheckedContinuation<Turn, Never>
    }

    /// The current load of the authentication, for statistics.
    package struct Load: Hashable, Sendable {
        /// Passwords that wait to be hashed, and those being hashed.
        package var waiting = 0, hashing = 0
        /// Addresses whose passwords are not checked because of earlier failures.
        package var throttledAddresses = 0

        package init() {}
    }

    package var load: Load {
        let now = now()
        return state.withLock { state in
            var load = Load()
            (load.waiting, load.hashing) = (state.queue.count, state.hashing)
            load.throttledAddresses = state.failures.blockedAddresses(now: now)
            return load
        }
    }

    /// Number of queued requests; for tests.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Decides about a request whose password must be hashed.
    /// - Parameters:
    ///   - first: the result of `check`.
    ///   - check: checks the credentials in the request again.
    func decide(_ first: Attempt, check: () -> Decision) async -> Decision {
        var attempt = first
        while true {
            // The accounts may have changed before this task was resumed.
            if let decision = await compare(attempt), isCurrent(attempt) { return decision }
            let decision = check()
            guard case .slow(let next) = decision else { return decision }
            attempt = next
        }
    }

    private func isCurrent(_ attempt: Attempt) -> Bool {
        state.withLock { _ in generation.load(ordering: .relaxed) == attempt.generation }
    }

    /// Compares a password once for all concurrent requests that carry it and come from the same address.
    /// - Returns: nil if the request must be checked again.
    private func compare(_ attempt: Attempt) async -> Decision? {
        guard let key = attempt.passwordKey else { return await hash(attempt) }
        let flight = PendingHash(key: key, address: attempt.origin.address)
        let isFirst = Mutex(false)
        let found: Decision? = await withCheckedContinuation { continuation in
            let leads = state.withLock { state in
                if state.pendingHashes[flight]?.append(continuation) != nil { return false }
                state.pendingHashes[flight] = []
                return true
            }
            guard leads else { return }
            isFirst.withLock { $0 = true }
            continuation.resume(returning: nil)
        }
        guard isFirst.withLock({ $0 }) else { return found }
        let decision = await hash(attempt)
        let others = state.withLock { $0.pendingHashes.removeValue(forKey: flight) ?? [] }
        // The disconnection of one client must not determine the result of the other requests.
        let shared: Decision? = if case .refused(.cancelled) = decision { nil } else { decision }
        for other in others { other.resume(returning: shared) }
        return decision
    }

    private func hash(_ attempt: Attempt) async -> Decision? {
        switch await waitForTurn(attempt) {
        case .hash: break
        case .again: return nil
        case .refused(let refusal): return .refused(refusal)
        }
        // While this request waited, its address may have failed again and the accounts may have changed.
        let now = now()
        let (isCurrent, wait) = state.withLock { state in
            (
                generation.load(ordering: .relaxed) == attempt.generation,
                state.failures.wait(
                    address: attempt.origin.address, account: attempt.origin.account, now: now)
            )
        }
        guard isCurrent, wait == nil else {
            endTurn(hashed: nil)
            return wait.map { .refused(.tooMany(waitSeconds: $0)) }
        }
        let isRight = await work.run { attempt.isRight }
        guard let isRight else {
            endTurn(hashed: nil)
            return .refused(.busy)
        }
        let decision = decide(attempt, isRight: isRight)
        endTurn(hashed: attempt.passwordKey)
        return decision
    }

    /// Waits in the queue for a turn to hash.
    /// - Returns: the turn; after `hash`, the caller must call ``endTurn(hashed:)``.
    private func waitForTurn(_ attempt: Attempt) async -> Turn {
        let ticket = tickets.add(1, ordering: .relaxed).newValue
        let now = now()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (turn, displaced) = state.withLock { state -> (Turn?, WaitingRequest?) in
                    if Task.isCancelled { return (.refused(.cancelled), nil) }
                    if state.hashing < hashesAtATime {
                        state.hashing += 1
                        return (.hash, nil)
                    }
                    return state.enqueue(
                        attempt, ticket,
                        WaitingRequest(key: attempt.passwordKey, continuation: continuation), now: now)
                }
                displaced?.continuation.resume(returning: .refused(.busy))
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let waiting = state.withLock { $0.queue.remove(ticket: ticket)?.waiter }
            waiting?.continuation.resume(returning: .refused(.cancelled))
        }
    }

    /// Passes the turn to the next request, and resumes requests that wait with the same password to check
    /// the cache.
    private func endTurn(hashed key: CredentialKeys.Key?) {
        let now = now()
        let (next, answered) = state.withLock { state -> (WaitingRequest?, [WaitingRequest]) in
            let answered = key.map { key in state.queue.removeAll { $0.waiter.key == key } } ?? []
            let next = state.removeNext(now: now)
            if next == nil { state.hashing -= 1 }
            return (next, answered.map(\.waiter))
        }
        next?.continuation.resume(returning: .hash)
        for request in answered { request.continuation.resume(returning: .again) }
    }
}

extension Authentication.State {
    /// Adds a request to the queue.
    /// - Returns: the value to resume this request with if it does not wait, and the request that it
    ///   displaced, if any.
    fileprivate mutating func enqueue(
        _ attempt: Authentication.Attempt, _ ticket: UInt64, _ request: Authentication.WaitingRequest,
        now: Int64
    ) -> (Authentication.Turn?, Authentication.WaitingRequest?) {
        let entry = PasswordQueue.Entry(
            ticket: ticket, account: attempt.line, address: attempt.origin.address,
            network: attempt.origin.network, waiter: request)
        let (failures, proven) = (failures, proven)
        let admission = queue.append(entry) { Self.standing(of: $0, failures, proven, now) }
        return switch admission {
        case .waiting: (nil, nil)
        case .displaced(let other): (nil, other.waiter)
        case .lineFull: (.refused(.lineFull), nil)
        case .full: (.refused(.busy), nil)
        }
    }

    fileprivate mutating func removeNext(now: Int64) -> Authentication.WaitingRequest? {
        let (failures, proven) = (failures, proven)
        return queue.removeNext { Self.standing(of: $0, failures, proven, now) }?.waiter
    }

    private static func standing(
        of entry: PasswordQueue<Authentication.WaitingRequest>.Entry, _ failures: LoginFailureTracker,
        _ proven: BoundedCache<Authentication.AccountAddressPair, Bool>, _ now: Int64
    ) -> PasswordQueue<Authentication.WaitingRequest>.ClientTrust {
        let isProven = proven[.init(account: entry.account, address: entry.address)] ?? false
        let hasFailed = failures.hasFailed(address: entry.address, now: now)
        return switch (isProven, hasFailed) {
        case (true, false): .proven
        case (true, true), (false, false): .unknown
        case (false, true): .failed
        }
    }
}

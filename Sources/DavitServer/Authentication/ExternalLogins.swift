internal import DavitHTTP
internal import Synchronization

/// Passwords that are verified elsewhere: recent results, the queue, and outages of the services.
///
/// Passwords are verified a few at a time, each once for all requests that carry it. The others wait in a queue
/// of limited length. While a service does not respond, requests are refused without asking it, except one from
/// time to time.
package final class ExternalLogins: Sendable {
    /// The result for a request.
    enum Outcome: Hashable, Sendable {
        /// - Parameters:
        ///   - peer: the address from which the password was first verified.
        ///   - number: the ``HTTPRequest/credentialNumber``; unchanged while the password is right and the groups are the same.
        case right(name: String, groups: Set<String>, peer: String, number: UInt64)
        case wrong
        case disabled
        /// A service that would have to be asked does not respond.
        case unavailable(seconds: Int64)
        /// The queue is full, or another password has displaced this one.
        case busy
        /// Too many passwords from the same address are queued.
        case lineFull
        case cancelled
    }

    /// A password to verify.
    struct Attempt: Sendable {
        let key: CredentialKeys.Key
        let name: String
        let password: String
        let peer: String
        /// The hash values of the name, of the address and of its network; see ``PasswordQueue/Entry``.
        let account: Int, address: Int, network: Int
    }

    typealias ClientTrust = PasswordQueue<Waiter>.ClientTrust
    typealias Standing = @Sendable (PasswordQueue<Waiter>.Entry) -> ClientTrust

    /// The value with which a queued request is resumed.
    enum Turn: Sendable {
        case verify
        case outcome(Outcome)
    }

    struct Waiter: Sendable {
        let key: CredentialKeys.Key
        let continuation: CheckedContinuation<Turn, Never>
    }

    private struct Entry: Sendable {
        let outcome: Outcome
        /// The hash value of the name that was sent.
        let account: Int
        let expiry: Int64
    }

    private struct State {
        /// Separate tables, so that wrong passwords cannot evict right ones.
        var right = BoundedCache<CredentialKeys.Key, Entry>(limit: CredentialCache.limit)
        var wrong = BoundedCache<CredentialKeys.Key, Entry>(limit: CredentialCache.limit)
        /// Passwords that are being verified or are queued, each with the other requests that carry it.
        var pending: [CredentialKeys.Key: [CheckedContinuation<Outcome?, Never>]] = [:]
        var queue = PasswordQueue<Waiter>()
        var running = 0
        /// One for each verifier.
        var outages: [ServiceOutage]

        init(verifiers: Int) { outages = Array(repeating: ServiceOutage(), count: verifiers) }

        mutating func record(_ found: Answer, _ attempt: Attempt, now: Int64) -> (Outcome, Revocation) {
            var revocation = Revocation()
            func entry(_ outcome: Outcome, _ lifetime: Int64) -> Entry {
                Entry(outcome: outcome, account: attempt.account, expiry: now + lifetime)
            }
            switch found {
            case .right(let name, let groups):
                var number = Accounts.nextNumber()
                if case .right(let oldName, let oldGroups, _, let old)? = right[attempt.key]?.outcome {
                    if (oldName, oldGroups) == (name, groups) {
                        number = old
                    } else {
                        revocation.numbers = [old]
                    }
                }
                let outcome = Outcome.right(
                    name: name, groups: groups, peer: attempt.peer, number: number)
                right.set(entry(outcome, ExternalLogins.rightLifetime), for: attempt.key)
                return (outcome, revocation)
            case .disabled:
                revocation.names = [attempt.name]
                right.removeAll { other in
                    guard other.account == attempt.account else { return false }
                    revocation.add(other.outcome)
                    return true
                }
                wrong.set(entry(.disabled, ExternalLogins.disabledLifetime), for: attempt.key)
                return (.disabled, revocation)
            case .wrong:
                // The user may have another password now.
                if case .right(_, _, _, let old)? = right[attempt.key]?.outcome { revocation.numbers = [old] }
                right.remove(attempt.key)
                wrong.set(entry(.wrong, CredentialCache.wrongLifetime), for: attempt.key)
                return (.wrong, revocation)
            case .unavailable(let seconds): return (.unavailable(seconds: seconds), revocation)
            }
        }
    }

    /// Logins that are no longer accepted.
    private struct Revocation {
        var numbers: Set<UInt64> = []
        /// Users who have been disabled.
        var names: Set<String> = []

        var isEmpty: Bool { numbers.isEmpty && names.isEmpty }

        mutating func add(_ outcome: Outcome) {
            guard case .right(let name, _, _, let number) = outcome else { return }
            numbers.insert(number)
            names.insert(name)
        }
    }

    /// Maximum duration of a verification.
    package static let deadline = Duration.seconds(10)
    /// Lifetime of a right password in nanoseconds. A user who is disabled by the service is refused after it.
    static let rightLifetime: Int64 = 60_000_000_000
    /// Lifetime of a refusal because the user is disabled, in nanoseconds.
    static let disabledLifetime: Int64 = 60_000_000_000
    /// Seconds during which a service that did not respond is not asked again.
    package static let retrySeconds = ServiceOutage.retrySeconds
    /// Maximum number of concurrent verifications.
    package static let atATime = 4

    private let verifiers: [any PasswordVerifier]
    private let deadline: Duration
    private let now: @Sendable () -> Int64
    private let report: @Sendable (Report) -> Void
    private let state: Mutex<State>
    private let tickets = Atomic<UInt64>(0)
    private let revoked = Mutex<(@Sendable (Set<UInt64>, Set<String>) -> Void)?>(nil)

    /// An event for the log.
    package enum Report: Hashable, Sendable {
        case unavailable(service: String, reason: String)
        case availableAgain(service: String)
    }

    /// - Parameters:
    ///   - verifiers: asked in this order, until a password is right or the user is disabled.
    ///   - report: called when a service stops responding, and when it responds again.
    ///   - now: returns the nanoseconds of a monotonic clock.
    package init(
        _ verifiers: [any PasswordVerifier], deadline: Duration = ExternalLogins.deadline,
        report: @escaping @Sendable (Report) -> Void = { _ in }, now: @escaping @Sendable () -> Int64
    ) {
        self.verifiers = verifiers
        self.deadline = deadline
        self.report = report
        self.now = now
        state = Mutex(State(verifiers: verifiers.count))
    }

    /// Sets an action that receives the numbers of logins that are no longer accepted, and the names of disabled users.
    func onRevocation(_ action: @escaping @Sendable (Set<UInt64>, Set<String>) -> Void) {
        revoked.withLock { $0 = action }
    }

    /// Number of queued requests; for tests.
    package var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Returns the recent result for a password; nil if it has to be verified.
    func recall(_ key: CredentialKeys.Key) -> Outcome? {
        let now = now()
        return state.withLock { state in
            if let entry = state.right[key], entry.expiry > now { return entry.outcome }
            if let entry = state.wrong[key], entry.expiry > now { return entry.outcome }
            return nil
        }
    }

    /// Verifies a password for which ``recall(_:)`` returned nil.
    /// - Parameter standing: returns the current trust in the sender of a queued password.
    /// - Returns: the outcome, and whether this request is the first with this password.
    func verify(
        _ attempt: Attempt, standing: @escaping Standing
    ) async -> (outcome: Outcome, isFirst: Bool) {
        while true {
            if let outcome = recall(attempt.key) { return (outcome, false) }
            let isFirst = Mutex(false)
            let found: Outcome? = await withCheckedContinuation { continuation in
                let leads = state.withLock { state in
                    if state.pending[attempt.key]?.append(continuation) != nil { return false }
                    state.pending[attempt.key] = []
                    return true
                }
                guard leads else { return }
                isFirst.withLock { $0 = true }
                continuation.resume(returning: nil)
            }
            if let found { return (found, false) }
            // The first request with this password was cancelled: another one takes its place.
            guard isFirst.withLock({ $0 }) else { continue }
            let outcome = await lead(attempt, standing)
            let others = state.withLock { $0.pending.removeValue(forKey: attempt.key) ?? [] }
            // The disconnection of one client must not determine the result of the other requests.
            for other in others { other.resume(returning: outcome == .cancelled ? nil : outcome) }
            return (outcome, true)
        }
    }

    private func lead(_ attempt: Attempt, _ standing: @escaping Standing) async -> Outcome {
        // Another request may have ended between the lookup and now.
        if let outcome = recall(attempt.key) { return outcome }
        if case .outcome(let outcome) = await waitForTurn(attempt, standing) { return outcome }
        let outcome = record(await ask(attempt), attempt)
        endTurn(standing)
        return outcome
    }

    // MARK: Services

    private enum Answer: Sendable {
        case right(name: String, groups: Set<String>)
        case wrong, disabled
        case unavailable(seconds: Int64)
    }

    /// Asks the services one after the other. If the password is not right for any of them, but one does not
    /// respond, the result is unknown.
    private func ask(_ attempt: Attempt) async -> Answer {
        var failure: Answer?
        for (index, verifier) in verifiers.enumerated() {
            if let seconds = wait(for: index) {
                failure = failure ?? .unavailable(seconds: seconds)
                continue
            }
            let found = await FirstResult.of(
                { await verifier.verify(name: attempt.name, password: attempt.password) },
                orAfter: deadline, .unavailable(reason: "no answer within \(deadline)"))
            recordAvailability(found, of: index)
            switch found {
            case .right(let name, let groups): return .right(name: name, groups: groups)
            case .disabled: return .disabled
            case .wrong: continue
            case .unavailable: failure = failure ?? .unavailable(seconds: Self.retrySeconds)
            }
        }
        return failure ?? .wrong
    }

    /// Returns the seconds until a service may be asked again; nil if it may be asked now. The caller must then ask
    /// it and call ``recordAvailability(_:of:)``.
    private func wait(for index: Int) -> Int64? {
        let now = now()
        return state.withLock { $0.outages[index].wait(now: now) }
    }

    private func recordAvailability(_ found: PasswordVerification, of index: Int) {
        let now = now()
        let service = verifiers[index].service
        var reason: String?
        if case .unavailable(let text) = found { reason = text }
        let event = state.withLock { $0.outages[index].record(isAvailable: reason == nil, now: now) }
        switch event {
        case .began: report(.unavailable(service: service, reason: reason ?? ""))
        case .ended: report(.availableAgain(service: service))
        case nil: break
        }
    }

    /// Remembers the result for a password, and ends what was admitted with an earlier result that is no longer true.
    private func record(_ found: Answer, _ attempt: Attempt) -> Outcome {
        let now = now()
        let (outcome, revocation) = state.withLock { $0.record(found, attempt, now: now) }
        if !revocation.isEmpty { revoked.withLock { $0 }?(revocation.numbers, revocation.names) }
        return outcome
    }

    // MARK: Queue

    /// Waits in the queue for a turn to ask a service. After `verify`, the caller must call ``endTurn(_:)``.
    private func waitForTurn(_ attempt: Attempt, _ standing: @escaping Standing) async -> Turn {
        let ticket = tickets.add(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (turn, displaced) = state.withLock { state -> (Turn?, Waiter?) in
                    if Task.isCancelled { return (.outcome(.cancelled), nil) }
                    if state.running < Self.atATime {
                        state.running += 1
                        return (.verify, nil)
                    }
                    let entry = PasswordQueue.Entry(
                        ticket: ticket, account: attempt.account, address: attempt.address,
                        network: attempt.network, waiter: Waiter(key: attempt.key, continuation: continuation)
                    )
                    return switch state.queue.append(entry, standing: standing) {
                    case .waiting: (nil, nil)
                    case .displaced(let other): (nil, other.waiter)
                    case .lineFull: (.outcome(.lineFull), nil)
                    case .full: (.outcome(.busy), nil)
                    }
                }
                displaced?.continuation.resume(returning: .outcome(.busy))
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.queue.remove(ticket: ticket)?.waiter }
            waiter?.continuation.resume(returning: .outcome(.cancelled))
        }
    }

    /// Passes the turn to the next request.
    private func endTurn(_ standing: @escaping Standing) {
        let next = state.withLock { state -> Waiter? in
            let next = state.queue.removeNext(standing: standing)?.waiter
            if next == nil { state.running -= 1 }
            return next
        }
        next?.continuation.resume(returning: .verify)
    }
}

/// The first of two results.
final class FirstResult<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    private init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Mutex(continuation)
    }

    private func set(_ value: Value) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
    }

    /// Returns the result of `work`, or `late` if it takes longer. The work then continues, and its result is
    /// ignored.
    static func of(
        _ work: @escaping @Sendable () async -> Value, orAfter deadline: Duration, _ late: Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let first = FirstResult(continuation)
            let timer = Task {
                do { try await Task.sleep(for: deadline) } catch { return }
                first.set(late)
            }
            Task {
                let value = await work()
                timer.cancel()
                first.set(value)
            }
        }
    }
}

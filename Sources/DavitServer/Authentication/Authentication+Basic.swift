internal import DavitHTTP
internal import Synchronization

/// The Basic scheme (RFC 7617), and the hashes that take their time.
extension Authentication {
    /// A password that is to be compared.
    struct Attempt: Sendable {
        /// Nil where nothing can be remembered.
        var key: CredentialKeys.Key?
        var user: [UInt8]
        var password: [UInt8]
        var account: Accounts.Account
        var isKnown: Bool
        var generation: Int
        var origin: Origin

        /// Blocks, if ``isQuick`` is false.
        var isRight: Bool {
            // Also where the name is unknown, so that it takes as long.
            let matches = account.secret.matches(password, of: isKnown ? user : Array(account.name.utf8))
            return matches && isKnown
        }
    }

    /// Whom a failure is counted against.
    struct Origin: Sendable {
        var peer: String
        var address: Int
        var account: Int

        /// - Parameter name: of the account, or whatever was sent instead.
        init(_ request: HTTPRequest, name: [UInt8]) {
            peer = request.peerAddress
            address = PeerNetwork(of: peer).hashValue
            account = name.hashValue
        }
    }

    func checkBasic(_ value: borrowing Span<UInt8>, _ request: HTTPRequest) -> Decision {
        let now = now()
        let key = keys.key(for: value)
        if let key {
            switch state.withLock({ $0.cache.look(for: key, now: now) }) {
            case .right(let name, let peer):
                if let wait = wait(at: request.peerAddress, insteadOf: peer, for: name, now: now) {
                    return .refused(.tooMany(waitSeconds: wait))
                }
                return .admitted(name: name, info: nil)
            case .wrong: return .refused(.credentials(isStale: false))
            case nil: break
            }
        }
        guard let (user, password) = Credentials.basic(from: value) else {
            return .refused(.credentials(isStale: false))
        }
        let origin = Origin(request, name: user)
        let first = state.withLock { state -> Decision in
            guard state.schemes.contains(.basic), let found = state.accounts.account(named: user) else {
                return .refused(.credentials(isStale: false))
            }
            if let wait = state.failures.wait(address: origin.address, account: origin.account, now: now) {
                return .refused(.tooMany(waitSeconds: wait))
            }
            return .slow(
                Attempt(
                    key: key, user: user, password: password, account: found.account,
                    isKnown: found.isKnown, generation: state.generation, origin: origin))
        }
        guard case .slow(let attempt) = first, attempt.account.secret.isQuick else { return first }
        return settle(attempt, isRight: attempt.isRight) ?? checkBasic(value, request)
    }

    /// Who has come in goes on while others guess, but only where they came in: an address that is held up would learn
    /// from what is remembered whether a guess is right.
    private func wait(at peer: String, insteadOf home: String, for name: String, now: Int64) -> Int64? {
        guard peer != home, PeerNetwork(of: peer) != PeerNetwork(of: home) else { return nil }
        let (address, account) = (PeerNetwork(of: peer).hashValue, Array(name.utf8).hashValue)
        return state.withLock { $0.failures.wait(address: address, account: account, now: now) }
    }

    /// Takes note of what was found.
    /// - Returns: nil if the accounts have changed meanwhile.
    private func settle(_ attempt: Attempt, isRight: Bool) -> Decision? {
        let now = now()
        let isValid = state.withLock { state in
            guard state.generation == attempt.generation else { return false }
            guard let key = attempt.key else { return true }
            if isRight {
                state.cache.keep(key, right: attempt.account.name, peer: attempt.origin.peer, now: now)
            } else {
                state.cache.keep(wrong: key, now: now)
            }
            return true
        }
        guard isValid else { return nil }
        if isRight { return .admitted(name: attempt.account.name, info: nil) }
        noteFailure(attempt.origin, now: now)
        return .refused(.credentials(isStale: false))
    }

    func noteFailure(_ origin: Origin, now: Int64) {
        let seconds = state.withLock {
            $0.failures.failed(address: origin.address, account: origin.account, now: now)
        }
        if seconds > 0 { report(origin.peer, seconds) }
    }

    // MARK: Hashes

    func decide(about request: HTTPRequest) async -> Decision {
        while true {
            let decision = check(request)
            guard case .slow(let attempt) = decision else { return decision }
            if let decision = await compare(attempt) { return decision }
        }
    }

    /// Compares a password; the same one once, however many ask at the same time.
    /// - Returns: nil if the accounts have changed meanwhile.
    private func compare(_ attempt: Attempt) async -> Decision? {
        guard let key = attempt.key else { return await hash(attempt) }
        let isFirst = Mutex(false)
        let found: Decision? = await withCheckedContinuation { continuation in
            let leads = state.withLock { state in
                if state.flights[key]?.append(continuation) != nil { return false }
                state.flights[key] = []
                return true
            }
            guard leads else { return }
            isFirst.withLock { $0 = true }
            continuation.resume(returning: nil)
        }
        guard isFirst.withLock({ $0 }) else { return found }
        let decision = await hash(attempt)
        let others = state.withLock { $0.flights.removeValue(forKey: key) ?? [] }
        for other in others { other.resume(returning: decision) }
        return decision
    }

    private func hash(_ attempt: Attempt) async -> Decision? {
        guard await gate.enter() else { return .refused(.busy) }
        // Others may have guessed wrong meanwhile, who began when this one did.
        let now = now()
        let wait = state.withLock {
            $0.failures.wait(address: attempt.origin.address, account: attempt.origin.account, now: now)
        }
        if let wait {
            gate.leave()
            return .refused(.tooMany(waitSeconds: wait))
        }
        let isRight = await work.run { attempt.isRight }
        gate.leave()
        guard let isRight else { return .refused(.busy) }
        return settle(attempt, isRight: isRight)
    }
}

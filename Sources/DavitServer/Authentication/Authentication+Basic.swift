internal import DavitHTTP
internal import Synchronization

/// The Basic scheme (RFC 7617).
extension Authentication {
    /// A password to compare.
    struct Attempt: Sendable {
        /// Cache key of the field value as sent; nil if the result cannot be cached.
        var key: CredentialKeys.Key?
        /// Cache key of name and password, independent of their encoding in the field; nil if the result
        /// cannot be cached.
        var passwordKey: CredentialKeys.Key?
        var user: [UInt8]
        var password: [UInt8]
        var account: Accounts.Account
        var isKnown: Bool
        var generation: Int
        var origin: Origin

        /// Identifies the account whose secret is compared, even if the requested name is unknown.
        var line: Int { account.name.hashValue }

        /// Whether the password is correct. Blocks if ``AccountSecret/isQuick`` is false.
        var isRight: Bool {
            // Compare even if the name is unknown, so that the duration is the same.
            let matches = account.secret.matches(password, of: isKnown ? user : Array(account.name.utf8))
            return matches && isKnown
        }
    }

    /// The client and the account name of a login attempt. Failures are counted under the hash values of the
    /// address and the account name.
    struct Origin: Sendable {
        var peer: String
        /// The hash value of the address; for IPv6, of its /64 network.
        var address: Int
        /// The hash value of the larger network that contains the address; see ``PeerNetwork/surrounding``.
        var network: Int
        var account: Int

        /// - Parameter name: the account name, or the unknown name that was sent.
        init(_ request: HTTPRequest, name: [UInt8]) {
            peer = request.peerAddress
            let own = PeerNetwork(of: peer)
            address = own.hashValue
            network = own.surrounding.hashValue
            account = name.hashValue
        }
    }

    func checkBasic(_ value: borrowing Span<UInt8>, _ request: HTTPRequest) -> Decision {
        let now = now()
        let key = keys.key(for: value)
        if let key, let decision = recall(key, request, now: now) { return decision }
        guard let (user, password) = Credentials.basic(from: value) else {
            return .refused(.credentials(isStale: false))
        }
        // The same credentials in a different encoding must not cause another hash computation.
        let passwordKey = keys.key(user: user, password: password)
        if let passwordKey, let decision = recall(passwordKey, request, now: now) { return decision }
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
                    key: key, passwordKey: passwordKey, user: user, password: password,
                    account: found.account, isKnown: found.isKnown, generation: state.generation,
                    origin: origin))
        }
        guard case .slow(let attempt) = first, attempt.account.secret.isQuick else { return first }
        return decide(attempt, isRight: attempt.isRight) ?? checkBasic(value, request)
    }

    /// Returns the decision for cached credentials; nil if they are not cached.
    private func recall(_ key: CredentialKeys.Key, _ request: HTTPRequest, now: Int64) -> Decision? {
        switch state.withLock({ $0.cache.look(for: key, now: now) }) {
        case .right(let name, let number, let peer):
            if let wait = wait(at: request.peerAddress, insteadOf: peer, for: name, now: now) {
                return .refused(.tooMany(waitSeconds: wait))
            }
            return .admitted(name: name, number: number, info: nil)
        case .wrong: return .refused(.credentials(isStale: false))
        case nil: return nil
        }
    }

    /// Returns the remaining wait for cached credentials sent from a network other than the one where they
    /// were verified; nil if there is none. Clients that have logged in keep access during a guessing attack,
    /// but only from that network: a blocked address must not learn from the cache whether a guess is right.
    private func wait(at peer: String, insteadOf home: String, for name: String, now: Int64) -> Int64? {
        guard peer != home, PeerNetwork(of: peer) != PeerNetwork(of: home) else { return nil }
        let (address, account) = (PeerNetwork(of: peer).hashValue, Array(name.utf8).hashValue)
        return state.withLock { $0.failures.wait(address: address, account: account, now: now) }
    }

    /// Records the result of a comparison.
    /// - Returns: nil if the accounts have changed in the meantime.
    func decide(_ attempt: Attempt, isRight: Bool) -> Decision? {
        let now = now()
        let isValid = state.withLock { state in
            guard state.generation == attempt.generation else { return false }
            if isRight {
                state.proven.set(true, for: .init(account: attempt.line, address: attempt.origin.address))
            }
            for key in [attempt.key, attempt.passwordKey] {
                guard let key else { continue }
                if isRight {
                    state.cache.keep(key, right: attempt.account, peer: attempt.origin.peer, now: now)
                } else {
                    state.cache.keep(wrong: key, now: now)
                }
            }
            return true
        }
        guard isValid else { return nil }
        if isRight {
            return .admitted(name: attempt.account.name, number: attempt.account.number, info: nil)
        }
        recordFailure(attempt.origin, now: now)
        return .refused(.credentials(isStale: false))
    }

    func recordFailure(_ origin: Origin, now: Int64) {
        let seconds = state.withLock {
            $0.failures.failed(address: origin.address, account: origin.account, now: now)
        }
        if seconds > 0 { report(origin.peer, seconds) }
    }
}

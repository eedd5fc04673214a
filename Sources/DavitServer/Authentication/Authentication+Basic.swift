internal import DavitHTTP
internal import Synchronization

/// The Basic scheme (RFC 7617).
extension Authentication {
    /// A password that is to be compared.
    struct Attempt: Sendable {
        /// Of the field as sent; nil where nothing can be remembered.
        var key: CredentialKeys.Key?
        /// Of name and password, however the field spells them; nil where nothing can be remembered.
        var passwordKey: CredentialKeys.Key?
        var user: [UInt8]
        var password: [UInt8]
        var account: Accounts.Account
        var isKnown: Bool
        var generation: Int
        var origin: Origin

        /// Names the account whose secret is compared, whether or not it is the one that was asked for.
        var line: Int { account.name.hashValue }

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
        /// That of the network around the address.
        var network: Int
        var account: Int

        /// - Parameter name: of the account, or whatever was sent instead.
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
        // Who spells the same credentials in another way gets no further hash.
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
        return settle(attempt, isRight: attempt.isRight) ?? checkBasic(value, request)
    }

    /// Decides by what is remembered, without waiting; nil if nothing is.
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

    /// Who has come in goes on while others guess, but only where they came in: an address that is held up would learn
    /// from what is remembered whether a guess is right.
    private func wait(at peer: String, insteadOf home: String, for name: String, now: Int64) -> Int64? {
        guard peer != home, PeerNetwork(of: peer) != PeerNetwork(of: home) else { return nil }
        let (address, account) = (PeerNetwork(of: peer).hashValue, Array(name.utf8).hashValue)
        return state.withLock { $0.failures.wait(address: address, account: account, now: now) }
    }

    /// Takes note of what was found.
    /// - Returns: nil if the accounts have changed meanwhile.
    func settle(_ attempt: Attempt, isRight: Bool) -> Decision? {
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
        noteFailure(attempt.origin, now: now)
        return .refused(.credentials(isStale: false))
    }

    func noteFailure(_ origin: Origin, now: Int64) {
        let seconds = state.withLock {
            $0.failures.failed(address: origin.address, account: origin.account, now: now)
        }
        if seconds > 0 { report(origin.peer, seconds) }
    }
}

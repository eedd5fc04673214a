internal import DavitAccess
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
        /// Whether the password was sent in a form, which asks for a second factor, if any.
        var isFromForm: Bool
        var generation: Int
        var origin: Origin
        var comparison = Comparison.account

        /// How it is determined whether the password is correct.
        enum Comparison: Sendable {
            /// By comparison with the password of the account.
            case account
            /// It is an app password of the account.
            case found(AppPasswordCredential)
            /// It has the form of an app password, but the account has no such password.
            case wrongAppPassword
        }

        /// Identifies the account whose secret is compared, even if the requested name is unknown.
        var line: Int { account.name.hashValue }

        /// Whether ``isRight`` takes only microseconds.
        var isQuick: Bool {
            guard case .account = comparison else { return true }
            return account.secret.isQuick
        }

        /// Whether the password is correct. Blocks if ``isQuick`` is false.
        var isRight: Bool {
            switch comparison {
            case .found: return true
            case .wrongAppPassword: return false
            case .account:
                // Compare even if the name is unknown or the password would not be accepted, so that the duration is
                // the same.
                let matches = account.secret.matches(password, of: Array(account.name.utf8))
                return matches && isKnown && (isFromForm || account.allowsAccountPassword)
            }
        }

        /// What the request is admitted with if the password is correct.
        var login: Login {
            if case .found(let appPassword) = comparison { return Login(account, appPassword) }
            return Login(account)
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
        let generation = generation.load(ordering: .acquiring)
        let key = keys.key(for: value)
        if let key, let (decision, expiry) = recall(key, request, now: now) {
            if let expiry, case .admitted(let login, _) = decision {
                remember(value, of: request, generation: generation, expiry: expiry, login)
            }
            return decision
        }
        guard let (user, password) = Credentials.basic(from: value) else {
            return .refused(.credentials(isStale: false))
        }
        return checkPassword(user: user, password, key: key, isFromForm: false, request)
    }

    /// Checks a name and a password.
    /// - Parameters:
    ///   - key: the cache key of the field that contained them; nil if there was none, or if the result cannot be
    ///     cached.
    ///   - isFromForm: whether a form contained them.
    func checkPassword(
        user: [UInt8], _ password: [UInt8], key: CredentialKeys.Key?, isFromForm: Bool, _ request: HTTPRequest
    ) -> Decision {
        let now = now()
        // The same credentials in a different encoding must not cause another hash computation.
        let passwordKey = keys.key(user: user, password: password, isFromForm: isFromForm)
        if let passwordKey, let (decision, _) = recall(passwordKey, request, now: now) { return decision }
        if let decision = externalDecision(
            user: user, password: password, key: passwordKey, request, now: now)
        {
            return decision
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
                    key: key, passwordKey: passwordKey, user: user, password: password,
                    account: found.account, isKnown: found.isKnown, isFromForm: isFromForm,
                    generation: generation.load(ordering: .relaxed), origin: origin,
                    comparison: comparison(of: password, with: found)))
        }
        guard case .slow(let attempt) = first, attempt.isQuick else { return first }
        return decide(attempt, isRight: attempt.isRight)
            ?? checkPassword(user: user, password, key: key, isFromForm: isFromForm, request)
    }

    /// Returns how a password is compared: a password with the form of an app password is not compared with a scrypt hash,
    /// unless the password of the account also has that form.
    private func comparison(
        of password: [UInt8], with found: (account: Accounts.Account, isKnown: Bool)
    ) -> Attempt.Comparison {
        guard let appPasswords, let appPassword = AppPassword(password),
            let hash = try? AppPasswordSecret.hash(of: appPassword)
        else { return .account }
        if found.isKnown, let match = found.account.appPasswords.first(where: { $0.secret.hash == hash }),
            !match.isExpired(at: appPasswords.seconds())
        {
            return .found(match)
        }
        let account = found.account.secret
        return account.hasAppPasswordForm || account.isQuick ? .account : .wrongAppPassword
    }

    /// Returns the decision for cached credentials, and when they must be verified again if they are right and were verified at
    /// the same address; nil if they are not cached.
    private func recall(
        _ key: CredentialKeys.Key, _ request: HTTPRequest, now: Int64
    ) -> (Decision, expiry: Int64?)? {
        switch state.withLock({ $0.cache.look(for: key, now: now) }) {
        case .right(let login, let peer, let expiry):
            let own = request.peerAddress
            if let wait = wait(at: own, insteadOf: peer, for: login.name, now: now) {
                return (.refused(.tooMany(waitSeconds: wait)), nil)
            }
            return (.admitted(login, info: nil), own == peer ? expiry : nil)
        case .wrong: return (.refused(.credentials(isStale: false)), nil)
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
        let login = attempt.login
        let lifetime = lifetime(of: login)
        var isFirst = false
        let isValid = state.withLock { state in
            guard generation.load(ordering: .relaxed) == attempt.generation else { return false }
            if isRight {
                isFirst = state.proven[.init(account: attempt.line, address: attempt.origin.address)] != true
                state.proven.set(true, for: .init(account: attempt.line, address: attempt.origin.address))
            }
            for key in [attempt.key, attempt.passwordKey] {
                guard let key else { continue }
                if isRight {
                    state.cache.keep(
                        key, right: login, peer: attempt.origin.peer, lifetime: lifetime, now: now)
                } else {
                    state.cache.keep(wrong: key, account: attempt.origin.account, now: now)
                }
            }
            return true
        }
        guard isValid else { return nil }
        if isRight {
            if isFirst { auditLogin(login.name, from: attempt.origin.peer, login.appPassword?.id) }
            return .admitted(login, info: nil)
        }
        recordFailure(attempt.origin, name: attempt.user, now: now)
        return .refused(.credentials(isStale: false))
    }

    /// Returns for how many nanoseconds a login remains valid, if it expires.
    private func lifetime(of login: Login) -> Int64 {
        guard let expiry = login.appPassword?.expiry, let now = appPasswords?.seconds() else { return .max }
        return max(0, min(expiry - now, 1 << 32)) * 1_000_000_000
    }

    /// - Parameter name: the name that was sent.
    func recordFailure(_ origin: Origin, name: [UInt8], now: Int64) {
        auditFailure(String(decoding: name, as: UTF8.self), from: origin.peer)
        let seconds = state.withLock {
            $0.failures.failed(address: origin.address, account: origin.account, now: now)
        }
        if seconds > 0 { report(origin.peer, seconds) }
        didFail(origin.peer)
    }

    /// Records the first login of an account from an address.
    /// - Parameter appPassword: the ID of the app password; nil for the password of the account.
    func auditLogin(_ name: String, from address: String, _ appPassword: String? = nil) {
        guard let audit else { return }
        var event = AuditEvent(.login)
        (event.principal, event.origin) = (name, address)
        event.detail = appPassword.map { "app password \($0)" }
        audit.record(event)
    }

    func auditFailure(_ name: String, from address: String) {
        guard let audit else { return }
        var event = AuditEvent(.failedLogin, .refused(.unauthorized))
        (event.principal, event.origin) = (name, address)
        audit.record(event)
    }
}

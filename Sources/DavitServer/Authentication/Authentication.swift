package import DavitAccess
internal import DavitCrypto
public import DavitHTTP
internal import Synchronization

/// Requires an account, authenticated with Basic (RFC 7617) or Digest (RFC 7616).
///
/// An account in a database can have app passwords: random passwords for one device or program, which are verified without
/// scrypt, work with Basic and Digest, and can be limited to a folder and rights.
///
/// Requests without credentials can be permitted what rules for anonymous clients grant. Wrong credentials are never treated as
/// none.
///
/// Without valid credentials, every method is answered with 401 and one challenge per scheme before any other
/// processing, because some clients never offer a password to a server that once responded without a
/// challenge (RFC 9110 §11.6.1). A Digest response for another target is answered with 400. Repeated failures
/// are answered with 429 for increasing periods, during which credentials are not checked, except those of
/// clients that have already logged in. With valid credentials, `request.principal` is the name of the
/// account, and `request.identity` also has the limit of an app password.
///
/// A password is compared with a scrypt hash on another thread. The result is cached: for five minutes if
/// the password is right, for 15 minutes if it is wrong. The cache keys are derived with a secret key. Few
/// passwords are hashed at a time; the others wait in a queue of limited length. A client that queues too
/// many passwords is answered with 429. If the queue is full, the request with the lowest priority is
/// answered with 503. Cached passwords are never queued.
///
/// A user whom a trusted proxy has authenticated (``IdentityFields``) needs no credentials, and credentials in
/// the request are then ignored: the proxy may have checked them.
public final class Authentication: Middleware {
    /// The state that changes between requests.
    struct State {
        var accounts: Accounts
        var schemes: [AuthenticationSettings.Scheme]
        var cache = CredentialCache()
        /// Passwords that are being hashed or are queued, each with the other requests that carry the same
        /// password and come from the same address.
        var pendingHashes: [PendingHash: [CheckedContinuation<Decision?, Never>]] = [:]
        /// Requests whose passwords are waiting to be hashed.
        var queue = PasswordQueue<WaitingRequest>()
        /// Number of passwords being hashed.
        var hashing = 0
        /// Pairs of an account and an address that has logged in to it.
        var proven = BoundedCache<AccountAddressPair, Bool>(limit: provenLimit)
        var failures = LoginFailureTracker()
        var nonces = NonceCountTable()
    }

    /// What a request is admitted with.
    struct Login: Sendable {
        var name: String
        /// The ``HTTPRequest/credentialNumber``.
        var number: UInt64
        /// Nil if the client used the password of the account.
        var appPassword: AppPasswordCredential?

        init(_ account: Accounts.Account) { (name, number) = (account.name, account.number) }

        init(_ account: Accounts.Account, _ appPassword: AppPasswordCredential) {
            name = account.name
            number = appPassword.number
            self.appPassword = appPassword
        }

        func admit(_ request: HTTPRequest) {
            if let appPassword {
                request.setIdentity(appPassword.identity)
            } else {
                request.principal = name
            }
            request.credentialNumber = number
        }
    }

    enum Decision: Sendable {
        /// - Parameter info: the value of Authentication-Info, after Digest.
        case admitted(Login, info: [UInt8]?)
        case refused(Refusal)
        /// The password must be hashed.
        case slow(Attempt)
        /// The password must be verified elsewhere.
        case external(ExternalLogins.Attempt)
        /// The password was verified elsewhere.
        /// - Parameter number: the ``HTTPRequest/credentialNumber``.
        case admittedElsewhere(Principal, number: UInt64)
    }

    enum Refusal: Equatable, Sendable {
        case credentials(isStale: Bool)
        case tooMany(waitSeconds: Int64)
        /// The Digest response is for another target (RFC 7616 §3.4.6).
        case otherTarget
        /// The password queue is full, another password has displaced this one, or the thread pool refused
        /// the hash.
        case busy
        /// Too many passwords from the same address are queued.
        case lineFull
        /// The password is verified elsewhere, by a service that does not respond.
        case unavailable(seconds: Int64)
        /// The client disconnected while its password was queued.
        case cancelled
    }

    /// An account and an address, as hash values.
    struct AccountAddressPair: Hashable, Sendable {
        var account: Int
        var address: Int
    }

    /// Maximum number of remembered pairs of an account and an address that has logged in to it.
    package static let provenLimit = 4096

    let realm: [UInt8]
    let now: @Sendable () -> Int64
    let state: Mutex<State>
    #if TLS
    let nonceGenerator = NonceGenerator()
    let opaque = HexText.encode(RandomBytes.make(count: 8))
    #endif
    let optionsFields: HTTPFields
    let work: any BlockingWorkRunner
    let report: @Sendable (_ address: String, _ seconds: Int64) -> Void
    /// Called after each failed login.
    let didFail: @Sendable (_ address: String) -> Void
    let limitLog: LimitLog
    /// Records logins and failed logins; nil without an audit log.
    let audit: (any AuditTrail)?
    /// Whether users whom a trusted proxy has authenticated are signed in.
    let admitsForwarded: Bool
    /// Verifies the passwords of users without an account here; nil to refuse them.
    let external: ExternalLogins?
    /// Returns the rights to its target that a request without credentials has. Without any, it must sign in.
    private let anonymousRights: (@Sendable (HTTPRequest) -> Rights)?
    /// Nil without a database of accounts.
    let appPasswords: AppPasswordServices?
    let keys = CredentialKeys()
    /// Maximum number of concurrent hashes. Each occupies a thread and, with the standard cost, 32 MiB of
    /// memory.
    let hashesAtATime: Int
    /// Asked in this order about requests without an Authorization field.
    private let authenticators: [any RequestAuthenticator]
    let tickets = Atomic<UInt64>(0)
    /// Identifies this object among all of the process, also those that no longer exist.
    let serial = Accounts.nextNumber()
    /// Incremented with each change of the accounts, while the lock of `state` is held; can be read without it.
    let generation = Atomic<Int>(0)

    /// - Parameters:
    ///   - optionsFields: fields added to 401 responses to OPTIONS, for clients that read the server's
    ///     capabilities there before they ask the user for a password.
    ///   - work: runs the password hashing.
    /// - Throws: an error if the settings are invalid or no scheme is usable by every account.
    public convenience init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWorkRunner
    ) throws(Accounts.Problem) {
        let start = ContinuousClock.now
        try self.init(accounts: accounts, optionsFields: optionsFields, work: work) {
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
    }

    /// - Parameters:
    ///   - hashesAtATime: maximum number of concurrent hashes, at least 1.
    ///   - report: called each time an address is blocked, with the duration in seconds.
    ///   - didFail: called with the address of the client after each failed login; must return quickly.
    ///   - limitLog: logs requests refused because too many passwords are queued.
    ///   - audit: records logins and failed logins; nil without an audit log.
    ///   - authenticators: asked in this order about requests without an Authorization field.
    ///   - admitsForwarded: whether users whom a trusted proxy has authenticated are signed in.
    ///   - external: verifies the passwords of users without an account here; nil to refuse them.
    ///   - appPasswords: nil without a database of accounts.
    ///   - anonymousRights: returns the rights to its target that a request without credentials has; nil if all requests
    ///     need credentials.
    ///   - now: returns the nanoseconds of a monotonic clock.
    package init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWorkRunner,
        hashesAtATime: Int = 1,
        report: @escaping @Sendable (_ address: String, _ seconds: Int64) -> Void = { _, _ in },
        didFail: @escaping @Sendable (_ address: String) -> Void = { _ in },
        limitLog: LimitLog = LimitLog { _ in }, audit: (any AuditTrail)? = nil,
        authenticators: [any RequestAuthenticator] = [],
        admitsForwarded: Bool = false, external: ExternalLogins? = nil,
        appPasswords: AppPasswordServices? = nil,
        anonymousRights: (@Sendable (HTTPRequest) -> Rights)? = nil,
        now: @escaping @Sendable () -> Int64
    ) throws(Accounts.Problem) {
        realm = Array(accounts.settings.realm.utf8)
        var accounts = accounts
        _ = accounts.number(keepingThoseOf: nil)
        let schemes = try Self.schemes(of: accounts)
        guard external == nil || schemes.contains(.basic) else { throw .noScheme }
        state = Mutex(State(accounts: accounts, schemes: schemes))
        self.optionsFields = optionsFields
        self.work = work
        self.hashesAtATime = max(1, hashesAtATime)
        self.report = report
        self.didFail = didFail
        self.limitLog = limitLog
        self.audit = audit
        self.authenticators = authenticators
        self.admitsForwarded = admitsForwarded
        self.external = external
        self.appPasswords = appPasswords
        self.anonymousRights = anonymousRights
        self.now = now
    }

    private static func schemes(
        of accounts: Accounts
    ) throws(Accounts.Problem) -> [AuthenticationSettings.Scheme] {
        if let problem = accounts.settings.problem { throw problem }
        let schemes = accounts.schemes
        if schemes.isEmpty { throw .noScheme }
        return schemes
    }

    /// Replaces the accounts. Later requests must use one of the new accounts.
    ///
    /// Requests in flight continue; `WebServer.replaceAccounts` also ends those of removed accounts.
    /// - Throws: the errors of the initializer, or ``Accounts/Problem/otherRealm`` if the realm differs; the
    ///   accounts are then unchanged.
    public func replaceAccounts(_ accounts: Accounts) throws(Accounts.Problem) {
        _ = try replace(with: accounts)
    }

    /// Like ``replaceAccounts(_:)``.
    /// - Returns: the ``HTTPRequest/credentialNumber`` of each account that was removed or whose secret has
    ///   changed. No further request is admitted with one of them, but requests in flight may still have it.
    package func replace(with accounts: Accounts) throws(Accounts.Problem) -> Set<UInt64> {
        guard Array(accounts.settings.realm.utf8) == realm else { throw .otherRealm }
        let schemes = try Self.schemes(of: accounts)
        var accounts = accounts
        return state.withLock { state in
            let revoked = accounts.number(keepingThoseOf: state.accounts)
            state.accounts = accounts
            generation.add(1, ordering: .releasing)
            state.schemes = schemes
            state.cache = CredentialCache()
            return revoked
        }
    }

    /// Replaces one account, adds it, or removes it if `entry` is nil. Other clients are not affected.
    /// - Returns: as ``replace(with:)``. An account that cannot be used, or that no configured scheme works for, is
    ///   removed, and `problem` is the reason.
    package func update(
        _ name: String, to entry: Accounts.Entry?, isDisabled: Bool = false
    ) -> (revoked: Set<UInt64>, problem: Accounts.Problem?) {
        state.withLock { state in
            var (revoked, problem) = state.accounts.update(name, to: entry, isDisabled: isDisabled)
            if state.accounts.schemes.isEmpty {
                revoked.formUnion(state.accounts.update(name, to: nil, isDisabled: true).revoked)
                problem = .noScheme
            }
            state.schemes = state.accounts.schemes
            generation.add(1, ordering: .releasing)
            state.cache.forget(account: Array(name.utf8).hashValue, revoked: revoked)
            return (revoked, problem)
        }
    }

    /// The current accounts.
    package var accounts: Accounts { state.withLock { $0.accounts } }

    // MARK: Requests

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        if admitsForwarded, let identity = request.forwardedIdentity {
            try admit(identity, request)
            return try next.respond(to: request).map(Self.withoutSharedCaching)
        }
        if !request.contains(.authorization), let anonymousRights {
            let rights = anonymousRights(request)
            if !rights.isEmpty, !authenticators.contains(where: { $0.claims(request) }) {
                return try anonymousReply(to: request, rights, next)
            }
        }
        if let login = remembered(request) {
            login.admit(request)
            return try next.respond(to: request)
        }
        if !authenticators.isEmpty, let reply = try ask(authenticators, request, next) { return reply }
        let decision = check(request)
        switch decision {
        case .slow(let attempt):
            return .pending { () async throws(HTTPError) in
                let decision = await self.decide(attempt) { self.check(request) }
                return try await self.reply(to: request, decision, next).response()
            }
        case .external(let attempt):
            return .pending { () async throws(HTTPError) in
                let decision = await self.decide(attempt)
                return try await self.reply(to: request, decision, next).response()
            }
        default: return try reply(to: request, decision, next)
        }
    }

    /// Signs a request in as the user whom a trusted proxy has authenticated. The user needs no account here,
    /// but must not have one that is disabled.
    private func admit(_ identity: ForwardedIdentity, _ request: HTTPRequest) throws(HTTPError) {
        guard Accounts.problem(ofName: identity.name) == nil else {
            throw HTTPError(.badRequest, "The proxy sent an invalid user name.")
        }
        switch state.withLock({ $0.accounts.standing(of: Array(identity.name.utf8)) }) {
        case .disabled: throw HTTPError(.forbidden, "This account is disabled.")
        case .account(let account): request.credentialNumber = account.number
        case .unknown: break
        }
        request.identity = Principal(.account, identity.name, groups: identity.groups)
    }

    /// Handles a request of a client that has not signed in. If it lacks a right, the response is a challenge, because an
    /// account may have it.
    private func anonymousReply(
        to request: HTTPRequest, _ rights: Rights, _ next: some Handler
    ) throws(HTTPError) -> Reply {
        request.identity = .anonymous
        return try next.respond(to: request).map { response in
            switch response.status {
            case .forbidden where !response.isSameForEveryAccount:
                self.answer(.credentials(isStale: false), to: request)
            // What the client may not list does not exist for it.
            case .notFound where !rights.contains(.list):
                self.answer(.credentials(isStale: false), to: request)
            default: response
            }
        }
    }

    private func reply(
        to request: HTTPRequest, _ decision: Decision, _ next: some Handler
    ) throws(HTTPError) -> Reply {
        switch decision {
        case .admitted(let login, let info):
            if let password = login.appPassword { report(useOf: password, request) }
            login.admit(request)
            let reply = try next.respond(to: request)
            guard let info else { return reply }
            return reply.map { $0.with(authenticationInfo: info) }
        case .refused(let refusal): return .ready(answer(refusal, to: request))
        case .admittedElsewhere(let principal, let number):
            request.identity = principal
            request.credentialNumber = number
            return try next.respond(to: request)
        case .slow, .external: return .ready(answer(.busy, to: request))
        }
    }

    private func report(useOf password: AppPasswordCredential, _ request: HTTPRequest) {
        guard let appPasswords, password.isReportDue(now: now()) else { return }
        appPasswords.didUse(
            AppPasswordUse(
                account: password.identity.principal.name ?? "", id: password.id,
                address: request.peerAddress, number: password.number, expiry: password.expiry))
    }

    /// Checks the credentials; records failures and consumes nonce counts. Call this once per request, and
    /// again only after the decision `slow`.
    func check(_ request: HTTPRequest) -> Decision {
        // With two fields, a proxy and this server could evaluate different ones.
        let decision = request.withOnlyValue(of: .authorization) { value -> Decision in
            if value.startsIgnoringCase(with: "basic ") { return checkBasic(value, request) }
            #if TLS
            if let credentials = DigestCredentials(parsing: value) {
                return checkDigest(credentials, request)
            }
            #endif
            return .refused(.credentials(isStale: false))
        }
        return decision ?? .refused(.credentials(isStale: false))
    }
}

extension HTTPResponse {
    /// Returns this response with an Authentication-Info field.
    fileprivate func with(authenticationInfo: [UInt8]) -> HTTPResponse {
        var response = self
        response.fields.append(
            named: "Authentication-Info", String(decoding: authenticationInfo, as: UTF8.self))
        return response
    }
}

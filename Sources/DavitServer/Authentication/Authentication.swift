internal import DavitCrypto
public import DavitHTTP
internal import Synchronization

/// Requires an account, authenticated with Basic (RFC 7617) or Digest (RFC 7616).
///
/// Without valid credentials, every method is answered with 401 and one challenge per scheme before any other
/// processing, because some clients never offer a password to a server that once responded without a
/// challenge (RFC 9110 §11.6.1). A Digest response for another target is answered with 400. Repeated failures
/// are answered with 429 for increasing periods, during which credentials are not checked, except those of
/// clients that have already logged in. With valid credentials, `request.principal` is the name of the
/// account.
///
/// A password is compared with a scrypt hash on another thread. The result is cached: for five minutes if
/// the password is right, for 15 minutes if it is wrong. The cache keys are derived with a secret key. Few
/// passwords are hashed at a time; the others wait in a queue of limited length. A client that queues too
/// many passwords is answered with 429. If the queue is full, the request with the lowest priority is
/// answered with 503. Cached passwords are never queued.
public final class Authentication: Middleware {
    /// The state that changes between requests.
    struct State {
        var accounts: Accounts
        /// Incremented each time the accounts are replaced.
        var generation = 0
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

    enum Decision: Sendable {
        /// - Parameters:
        ///   - number: the account's ``HTTPRequest/credentialNumber``.
        ///   - info: the value of Authentication-Info, after Digest.
        case admitted(name: String, number: UInt64, info: [UInt8]?)
        case refused(Refusal)
        /// The password must be hashed.
        case slow(Attempt)
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
    private let optionsFields: HTTPFields
    let work: any BlockingWorkRunner
    let report: @Sendable (_ address: String, _ seconds: Int64) -> Void
    private let limitLog: LimitLog
    let keys = CredentialKeys()
    /// Maximum number of concurrent hashes. Each occupies a thread and, with the standard cost, 32 MiB of
    /// memory.
    let hashesAtATime: Int
    let tickets = Atomic<UInt64>(0)

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
    ///   - limitLog: logs requests refused because too many passwords are queued.
    ///   - now: returns the nanoseconds of a monotonic clock.
    package init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWorkRunner,
        hashesAtATime: Int = 1,
        report: @escaping @Sendable (_ address: String, _ seconds: Int64) -> Void = { _, _ in },
        limitLog: LimitLog = LimitLog { _ in },
        now: @escaping @Sendable () -> Int64
    ) throws(Accounts.Problem) {
        realm = Array(accounts.settings.realm.utf8)
        var accounts = accounts
        _ = accounts.number(keepingThoseOf: nil)
        state = Mutex(State(accounts: accounts, schemes: try Self.schemes(of: accounts)))
        self.optionsFields = optionsFields
        self.work = work
        self.hashesAtATime = max(1, hashesAtATime)
        self.report = report
        self.limitLog = limitLog
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
            state.generation += 1
            state.schemes = schemes
            state.cache = CredentialCache()
            return revoked
        }
    }

    /// The current accounts.
    package var accounts: Accounts { state.withLock { $0.accounts } }

    // MARK: Requests

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let decision = check(request)
        guard case .slow(let attempt) = decision else { return try reply(to: request, decision, next) }
        return .pending { () async throws(HTTPError) in
            let decision = await self.decide(attempt, for: request)
            return try await self.reply(to: request, decision, next).response()
        }
    }

    private func reply(
        to request: HTTPRequest, _ decision: Decision, _ next: some Handler
    ) throws(HTTPError) -> Reply {
        switch decision {
        case .admitted(let name, let number, let info):
            request.principal = name
            request.credentialNumber = number
            let reply = try next.respond(to: request)
            guard let info else { return reply }
            return reply.map { $0.with(authenticationInfo: info) }
        case .refused(let refusal): return .ready(answer(refusal, to: request))
        case .slow: return .ready(answer(.busy, to: request))
        }
    }

    /// Checks the credentials; records failures and consumes nonce counts. Call this once per request, and
    /// again only after the decision `slow`.
    func check(_ request: HTTPRequest) -> Decision {
        // With two fields, a proxy and this server could evaluate different ones.
        guard request.count(of: .authorization) == 1 else { return .refused(.credentials(isStale: false)) }
        let decision = request.withValue(of: .authorization) { value -> Decision in
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

    // MARK: Responses

    private func answer(_ refusal: Refusal, to request: HTTPRequest) -> HTTPResponse {
        switch refusal {
        case .credentials(let isStale):
            var response = HTTPResponse.text(
                "Authentication required.\n", status: .unauthorized)
            if request.method == .options { response.fields.appendMissing(optionsFields) }
            appendChallenges(to: &response.fields, isStale: isStale)
            return response
        case .tooMany(let seconds):
            var response = HTTPResponse.text(
                "Too many failed logins from your address. Try again in \(seconds) s.\n",
                status: .tooManyRequests)
            response.fields.append(.retryAfter, seconds)
            return response
        case .otherTarget:
            return .text("These Digest credentials are for another request target.\n", status: .badRequest)
        case .busy, .cancelled:
            if case .busy = refusal { logRefusal("logins waiting", request) }
            return .error(
                .serviceUnavailable, "The server is too busy to check the password. Try again later.")
        case .lineFull:
            logRefusal("logins waiting from one address", request)
            var response = HTTPResponse.text(
                "Too many logins from your address are waiting. Try again later.\n", status: .tooManyRequests)
            response.fields.append(.retryAfter, Int64(1))
            return response
        }
    }

    private func logRefusal(_ cause: StaticString, _ request: HTTPRequest) {
        // The log only compares times with each other, so a monotonic clock is suitable.
        let now = Timestamp(seconds: self.now() / 1_000_000_000)
        limitLog.refused(cause, account: nil, address: request.peerAddress, now: now)
    }

    /// Appends one field per challenge, because some clients read only the first challenge of a list.
    private func appendChallenges(to fields: inout HTTPFields, isStale: Bool) {
        let schemes = state.withLock { $0.schemes }
        #if TLS
        let nonce = schemes.contains(where: \.isDigest) ? nonceGenerator.make(now: now()) : nil
        #endif
        for scheme in schemes {
            #if TLS
            if let algorithm = scheme.algorithm {
                guard let nonce else { continue }
                fields.append(.wwwAuthenticate, challenge(algorithm, nonce, isStale: isStale))
                continue
            }
            #endif
            // Use the same realm for the entire server; otherwise clients ask for the password again in each
            // folder.
            fields.append(
                .wwwAuthenticate,
                #"Basic realm="\#(String(decoding: realm, as: UTF8.self))", charset="UTF-8""#)
        }
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

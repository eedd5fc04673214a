internal import DavitCrypto
public import DavitHTTP
internal import Synchronization

/// Lets only those through who have an account, by Basic (RFC 7617) and Digest (RFC 7616).
///
/// Without good credentials every method is answered 401 with a challenge for each scheme, before anything else happens:
/// some clients never offer a password to a server that once answered without (RFC 9110 §11.6.1). An answer to a
/// challenge for another target is 400. Who guesses is answered 429, sooner and for longer the more often it was, and
/// nothing is looked at meanwhile. With good credentials `request.principal` is the name of the account.
///
/// A password is compared with a scrypt hash on another thread, and once in five minutes. Few are hashed at a time; the
/// others wait in a queue of limited length. Whoever sends too many is answered 429, and 503 if the queue is
/// full. Remembered passwords never wait. What was found stays here, under a key that nobody else has.
public final class Authentication: Middleware {
    /// Who and what stands here now; all that changes with a request.
    struct State {
        var accounts: Accounts
        /// Counts the lists of accounts there have been.
        var generation = 0
        var schemes: [AuthenticationSettings.Scheme]
        var cache = CredentialCache()
        /// Passwords that are being hashed or wait for that, and the other requests that have them.
        var flights: [Flight: [CheckedContinuation<Decision?, Never>]] = [:]
        /// Requests whose passwords wait to be hashed.
        var queue = PasswordQueue<WaitingRequest>()
        /// How many passwords are being hashed.
        var hashing = 0
        /// Addresses that have logged in to accounts.
        var proven = AgingTable<ProvenPair, Bool>(limit: provenLimit)
        var failures = FailureLedger()
        var nonces = NonceLedger()
    }

    enum Decision: Sendable {
        /// - Parameters:
        ///   - number: of the account; see ``HTTPRequest/credentialNumber``.
        ///   - info: the value of Authentication-Info, after Digest.
        case admitted(name: String, number: UInt64, info: [UInt8]?)
        case refused(Refusal)
        /// There is a hash to be made.
        case slow(Attempt)
    }

    enum Refusal: Equatable, Sendable {
        case credentials(isStale: Bool)
        case tooMany(waitSeconds: Int64)
        /// The answer to a challenge is for another target (RFC 7616 §3.4.6).
        case otherTarget
        /// The queue of passwords is full.
        case busy
        /// Too many passwords from the same address are in the queue.
        case lineFull
        /// The client disconnected while its password was in the queue.
        case cancelled
    }

    /// An account and an address, as hash values.
    struct ProvenPair: Hashable, Sendable {
        var account: Int
        var address: Int
    }

    /// How many pairs of an account and an address that has logged in to it are remembered.
    private static let provenLimit = 4096

    let realm: [UInt8]
    let now: @Sendable () -> Int64
    let state: Mutex<State>
    #if TLS
    let mint = NonceMint()
    let opaque = HexText.encode(RandomBytes.make(count: 8))
    #endif
    private let optionsFields: HTTPFields
    let work: any BlockingWork
    let report: @Sendable (_ address: String, _ seconds: Int64) -> Void
    let keys = CredentialKeys()
    /// Each takes a thread and 32 MiB.
    let hashesAtATime: Int
    let tickets = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - optionsFields: stand on 401 answers to OPTIONS too, for clients that look there for what the server
    ///     can do before they have asked for a password.
    ///   - work: where passwords are hashed.
    /// - Throws: if the settings make no sense, or no scheme is left that every account can use.
    public convenience init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWork
    ) throws(Accounts.Problem) {
        let start = ContinuousClock.now
        try self.init(accounts: accounts, optionsFields: optionsFields, work: work) {
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
    }

    /// - Parameters:
    ///   - hashesAtATime: how many passwords are hashed at the same time, from 1 on.
    ///   - report: told each time an address is held up, and for how long.
    ///   - now: nanoseconds of a clock that never goes back.
    package init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWork,
        hashesAtATime: Int = 1,
        report: @escaping @Sendable (_ address: String, _ seconds: Int64) -> Void = { _, _ in },
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

    /// Replaces the accounts. Further requests need one of the new accounts.
    ///
    /// Requests in flight go on; `WebServer.replaceAccounts` also ends those of accounts that are gone.
    /// - Throws: as the initialiser does, and if the realm is another one; the accounts then stay as they are.
    public func replaceAccounts(_ accounts: Accounts) throws(Accounts.Problem) {
        _ = try replace(with: accounts)
    }

    /// As ``replaceAccounts(_:)``.
    /// - Returns: the ``HTTPRequest/credentialNumber`` of each account that is gone or whose secret has changed. No
    ///   request is admitted with one of them from now on, but requests in flight may have it.
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

    /// The accounts of this moment.
    package var accounts: Accounts { state.withLock { $0.accounts } }

    // MARK: Requests

    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        switch check(request) {
        case .admitted(let name, let number, let info):
            admit(request, as: name, number)
            guard let response = next.respondAtOnce(to: request) else { return nil }
            return response.with(info)
        case .refused(let refusal): return answer(refusal, to: request)
        case .slow: return nil
        }
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        let info: [UInt8]?
        if request.admittedBy == ObjectIdentifier(self) {
            // Not looked at again: the count of a nonce is good for one look.
            info = authenticationInfo(for: request)
        } else {
            switch await decide(about: request) {
            case .admitted(let name, let number, let found):
                admit(request, as: name, number)
                info = found
            case .refused(let refusal): return answer(refusal, to: request)
            case .slow: return answer(.busy, to: request)
            }
        }
        return try await next.respond(to: request).with(info)
    }

    private func admit(_ request: HTTPRequest, as name: String, _ number: UInt64) {
        request.principal = name
        request.credentialNumber = number
        request.admittedBy = ObjectIdentifier(self)
    }

    /// Looks at the credentials; takes note of failures, and of what can be used once.
    func check(_ request: HTTPRequest) -> Decision {
        // Two fields could be read in two ways by two parties.
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

    // MARK: Answers

    private func answer(_ refusal: Refusal, to request: HTTPRequest) -> HTTPResponse {
        switch refusal {
        case .credentials(let isStale):
            var response = HTTPResponse.text(
                "A name and a password are needed here.\n", status: .unauthorized)
            if request.method == .options { response.fields.appendMissing(optionsFields) }
            appendChallenges(to: &response.fields, isStale: isStale)
            return response
        case .tooMany(let seconds):
            var response = HTTPResponse.text(
                "Too many wrong passwords came from there. Try again in \(seconds) s.\n",
                status: .tooManyRequests)
            response.fields.append(.retryAfter, seconds)
            return response
        case .otherTarget:
            return .text("These credentials are for another target.\n", status: .badRequest)
        case .busy, .cancelled:
            return .error(.serviceUnavailable, "too many passwords wait to be compared")
        case .lineFull:
            var response = HTTPResponse.text(
                "Too many logins from your address are waiting. Try again later.\n", status: .tooManyRequests)
            response.fields.append(.retryAfter, Int64(1))
            return response
        }
    }

    /// One field for each: some clients read the first of a list only.
    private func appendChallenges(to fields: inout HTTPFields, isStale: Bool) {
        let schemes = state.withLock { $0.schemes }
        #if TLS
        let nonce = schemes.contains(where: \.isDigest) ? mint.make(now: now()) : nil
        #endif
        for scheme in schemes {
            #if TLS
            if let algorithm = scheme.algorithm {
                guard let nonce else { continue }
                fields.append(.wwwAuthenticate, challenge(algorithm, nonce, isStale: isStale))
                continue
            }
            #endif
            // One realm and one text for the whole server, or clients ask again in each folder.
            fields.append(
                .wwwAuthenticate,
                #"Basic realm="\#(String(decoding: realm, as: UTF8.self))", charset="UTF-8""#)
        }
    }
}

extension HTTPResponse {
    /// This response with a field Authentication-Info, if there is a value for it.
    fileprivate func with(_ authenticationInfo: [UInt8]?) -> HTTPResponse {
        guard let authenticationInfo else { return self }
        var response = self
        response.fields.append(
            named: "Authentication-Info", String(decoding: authenticationInfo, as: UTF8.self))
        return response
    }
}

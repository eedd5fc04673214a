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
/// A password is compared with a scrypt hash on another thread, and once in five minutes; two at a time, while 32 wait;
/// further ones are answered 503. What was found stays here, under a key that nobody else has.
public final class Authentication: Middleware {
    /// Who and what stands here now; all that changes with a request.
    struct State {
        var accounts: Accounts
        /// Counts the lists of accounts there have been.
        var generation = 0
        var schemes: [AuthenticationSettings.Scheme]
        var cache = CredentialCache()
        /// What is being hashed, and who else waits for that.
        var flights: [CredentialKeys.Key: [CheckedContinuation<Decision?, Never>]] = [:]
        var failures = FailureLedger()
        var nonces = NonceLedger()
    }

    enum Decision: Sendable {
        /// - Parameter info: the value of Authentication-Info, after Digest.
        case admitted(name: String, info: [UInt8]?)
        case refused(Refusal)
        /// There is a hash to be made.
        case slow(Attempt)
    }

    enum Refusal: Equatable, Sendable {
        case credentials(isStale: Bool)
        case tooMany(waitSeconds: Int64)
        /// The answer to a challenge is for another target (RFC 7616 §3.4.6).
        case otherTarget
        case busy
    }

    private static let hashesAtATime = 2
    private static let waitingForHashes = 32

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
    let gate = Gate(limit: hashesAtATime, waitingLimit: waitingForHashes)

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
    ///   - report: told each time an address is held up, and for how long.
    ///   - now: nanoseconds of a clock that never goes back.
    package init(
        accounts: Accounts, optionsFields: HTTPFields = HTTPFields(), work: any BlockingWork,
        report: @escaping @Sendable (_ address: String, _ seconds: Int64) -> Void = { _, _ in },
        now: @escaping @Sendable () -> Int64
    ) throws(Accounts.Problem) {
        realm = Array(accounts.settings.realm.utf8)
        state = Mutex(State(accounts: accounts, schemes: try Self.schemes(of: accounts)))
        self.optionsFields = optionsFields
        self.work = work
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

    /// From now on these accounts count and no others; who came in with another one has to authenticate again.
    ///
    /// Requests that are in the middle are not cut off.
    /// - Throws: as the initialiser does, and if the realm is another one; the accounts then stay as they are.
    public func replaceAccounts(_ accounts: Accounts) throws(Accounts.Problem) {
        guard Array(accounts.settings.realm.utf8) == realm else { throw .otherRealm }
        let schemes = try Self.schemes(of: accounts)
        state.withLock { state in
            state.accounts = accounts
            state.generation += 1
            state.schemes = schemes
            state.cache = CredentialCache()
        }
    }

    // MARK: Requests

    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        switch check(request) {
        case .admitted(let name, let info):
            admit(request, as: name)
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
            case .admitted(let name, let found):
                admit(request, as: name)
                info = found
            case .refused(let refusal): return answer(refusal, to: request)
            case .slow: return answer(.busy, to: request)
            }
        }
        return try await next.respond(to: request).with(info)
    }

    private func admit(_ request: HTTPRequest, as name: String) {
        request.principal = name
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
        case .busy: return .error(.serviceUnavailable, "too many passwords wait to be compared")
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

public import DavitHTTP
public import DavitServer

#if TLS
internal import DavitSystem
internal import Synchronization
#endif

/// Signs users in at an OpenID Connect provider (OpenID Connect Core 1.0), with the authorization code flow and PKCE.
///
/// ```swift
/// var settings = OIDCSettings(issuer: "https://login.example.org", clientID: "davit")
/// settings.clientSecret = secret
/// configuration.signInProvider = try OIDCProvider(settings)
/// configuration.publicURLs = ["https://files.example.org"]
/// ```
///
/// The metadata and the keys of the provider are fetched when they are first needed, and again after an hour. If a token is
/// signed with an unknown key, the keys are fetched again, at most once a minute.
public final class OIDCProvider: SignInProvider {
    private let settings: OIDCSettings
    public var service: String { settings.issuer }
    public var name: String { settings.name }

    #if TLS
    /// How long metadata and keys are used, in seconds.
    static let lifetime: Int64 = 3600
    /// The least time in seconds between two requests for keys.
    static let keyInterval: Int64 = 60
    /// The time in seconds after which metadata are requested again if they could not be used.
    static let retrySeconds: Int64 = 5

    /// Times are seconds of a monotonic clock.
    private struct State: Sendable {
        var metadata: (value: OIDCMetadata, until: Int64)?
        var failure: (error: OIDCError, until: Int64)?
        var keys: (value: JSONWebKeys, until: Int64)?
        var keysRequested: Int64?
    }

    private let fetcher: any OIDCFetcher
    private let wallClock: @Sendable () -> Int64
    private let monotonicClock: @Sendable () -> Int64
    /// Requests to the provider block.
    private let pool = BlockingPool(threads: ExternalLogins.atATime)
    /// Held while metadata or keys are fetched, so that threads of the pool wait for one request instead of sending several.
    private let state = Mutex(State())
    #endif

    /// - Throws: an error if the settings cannot be used. Does not connect.
    public init(_ settings: OIDCSettings) throws(OIDCSettings.Problem) {
        if let problem = settings.problem { throw problem }
        self.settings = settings
        #if OIDC
        // libcurl writes to sockets that the provider may have closed.
        Signals.ignoreBrokenPipes()
        fetcher = OIDCClient(authorities: settings.authorities, allowsPlain: settings.allowsLoopback)
        wallClock = { Clock.wallNow() / 1_000_000_000 }
        monotonicClock = { Clock.coarseNow() / 1_000_000_000 }
        #else
        throw .notIncluded
        #endif
    }

    #if TLS
    /// - Parameters:
    ///   - wallClock: returns the time in seconds since 1970.
    ///   - monotonicClock: returns seconds.
    init(
        _ settings: OIDCSettings, fetcher: any OIDCFetcher, wallClock: @escaping @Sendable () -> Int64,
        monotonicClock: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.fetcher = fetcher
        self.wallClock = wallClock
        self.monotonicClock = monotonicClock
    }

    deinit { pool.shutdown() }
    #endif

    public func url(for attempt: SignInAttempt) async -> SignInStart {
        #if TLS
        let found = await pool.run(sendable: { [self] () -> SignInStart in
            do throws(OIDCError) {
                return .url(
                    try AuthorizationCode.url(at: try metadata().authorizationURL, settings, attempt))
            } catch {
                switch error {
                case .unavailable(let reason): return .unavailable(reason: reason)
                case .invalid(let reason), .wrongCode(let reason): return .invalid(reason: reason)
                }
            }
        })
        return found ?? .unavailable(reason: "too many sign-ins are in progress")
        #else
        return .unavailable(reason: "this build does not include OpenID Connect")
        #endif
    }

    public func verify(_ answer: FormFields, _ attempt: SignInAttempt) async -> SignInVerification {
        #if TLS
        let found = await pool.run(sendable: { [self] () -> SignInVerification in
            do throws(OIDCError) { return try verification(of: answer, attempt) } catch {
                switch error {
                case .unavailable(let reason): return .unavailable(reason: reason)
                case .invalid(let reason): return .invalid(reason: reason)
                case .wrongCode(let reason): return .wrong(reason: reason)
                }
            }
        })
        return found ?? .unavailable(reason: "too many sign-ins are in progress")
        #else
        return .unavailable(reason: "this build does not include OpenID Connect")
        #endif
    }

    #if TLS
    private func verification(
        of answer: FormFields, _ attempt: SignInAttempt
    ) throws(OIDCError) -> SignInVerification {
        let metadata = try metadata()
        let code: String
        switch AuthorizationCode(answer, issuer: settings.issuer, isIssuerRequired: metadata.namesIssuer) {
        case .code(let text): code = text
        case .denied: return .denied
        case .wrong(let reason): return .wrong(reason: reason)
        }
        let response = try fetcher.fetch(
            AuthorizationCode.exchange(code, at: metadata.tokenURL, settings, attempt))
        let text = try AuthorizationCode.token(in: response)
        let expected = IDToken.Expectation(
            issuer: settings.issuer, clientID: settings.clientID, nonce: attempt.nonce, now: wallClock())
        let token = try Self.usable { () throws(IDToken.Problem) in try IDToken(parsing: text) }
        var keys = try keys(at: metadata.keysURL)
        // The provider may have begun to use another key.
        if !token.hasKey(in: keys) { keys = try self.keys(at: metadata.keysURL, isRefresh: true) }
        let claims = try Self.usable { () throws(IDToken.Problem) in
            try token.verified(with: keys, expected)
        }
        return OIDCUser.verification(claims, settings)
    }

    private static func usable<T>(_ body: () throws(IDToken.Problem) -> T) throws(OIDCError) -> T {
        do throws(IDToken.Problem) { return try body() } catch { throw .invalid(error.text) }
    }

    private func metadata() throws(OIDCError) -> OIDCMetadata {
        let now = monotonicClock()
        return try state.withLock { state throws(OIDCError) in
            if let known = state.metadata, now < known.until { return known.value }
            // Clients must not make the server ask a provider whose metadata cannot be used.
            if let failure = state.failure, now < failure.until { throw failure.error }
            do throws(OIDCError) {
                let found = try OIDCMetadata(
                    parsing: try document(OIDCMetadata.url(of: settings.issuer), OIDCMetadata.limitBytes),
                    issuer: settings.issuer, allowsLoopback: settings.allowsLoopback)
                state.metadata = (found, now + Self.lifetime)
                state.failure = nil
                return found
            } catch {
                if case .invalid = error { state.failure = (error, now + Self.retrySeconds) }
                throw error
            }
        }
    }

    /// - Parameter isRefresh: whether to fetch the keys again, unless they were fetched a short time ago.
    private func keys(at url: String, isRefresh: Bool = false) throws(OIDCError) -> JSONWebKeys {
        let now = monotonicClock()
        return try state.withLock { state throws(OIDCError) in
            let isRecent = state.keysRequested.map { now - $0 < Self.keyInterval } ?? false
            if let known = state.keys, now < known.until, !isRefresh || isRecent { return known.value }
            state.keysRequested = now
            let found = try JSONWebKeys(parsing: try document(url, JSONWebKeys.limitBytes))
            state.keys = (found, now + Self.lifetime)
            return found
        }
    }

    private func document(_ url: String, _ limitBytes: Int) throws(OIDCError) -> [UInt8] {
        let response = try fetcher.fetch(OIDCRequest(url: url, limitBytes: limitBytes))
        guard response.status == 200 else { throw .unavailable("\(url): status \(response.status)") }
        return response.bytes
    }
    #endif
}

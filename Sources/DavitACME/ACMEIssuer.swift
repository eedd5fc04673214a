internal import DavitHTTP
public import DavitServer

#if TLS
internal import DavitCrypto
internal import DavitSystem
internal import DavitWebClient
#endif

/// Gets the certificate of a server from an ACME server (RFC 8555), and renews it when a third of its life is left.
///
/// ```swift
/// var settings = ACMESettings(domains: ["files.example.org"])
/// settings.agreesToTerms = true
/// configuration.tls = .init(issuer: try ACMEIssuer(settings))
/// ```
///
/// If a renewal fails, the current certificate remains in use, and the attempt is repeated after 5 minutes, then after twice the
/// time each, up to 6 hours, or later if the ACME server requests it.
public final class ACMEIssuer: CertificateIssuer {
    private let settings: ACMESettings
    public var domains: [String] { settings.domains }

    #if TLS
    private struct State {
        /// Whether the thread is running.
        var isRunning = false
        var isStopping = false
    }

    /// Maximum duration until a connection is established, and of a request, in milliseconds.
    private static let connectMilliseconds = 10_000
    private static let totalMilliseconds = 30_000
    /// The longest wait in one step, so that changes of the clock are noticed, in milliseconds.
    private static let stepMilliseconds: Int64 = 3_600_000

    private let makeTransport: @Sendable (@escaping @Sendable () -> Bool) -> any ACMETransport
    private let now: @Sendable () -> Timestamp
    private let state = Monitor(State())
    #endif

    /// - Throws: an error if the settings cannot be used. Does not connect.
    public init(_ settings: ACMESettings) throws(ACMESettings.Problem) {
        if let problem = settings.problem { throw problem }
        self.settings = settings
        #if ACME
        // libcurl writes to sockets that the ACME server may have closed.
        Signals.ignoreBrokenPipes()
        let authorities = settings.authorities
        makeTransport = { isCancelled in
            HTTPSClient(
                authorities: authorities, allowsPlain: false, connectMilliseconds: Self.connectMilliseconds,
                totalMilliseconds: Self.totalMilliseconds, isCancelled: isCancelled)
        }
        now = { Timestamp(nanoseconds: Clock.wallNow()) }
        #else
        throw .notIncluded
        #endif
    }

    #if TLS
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - now: returns the time.
    init(
        _ settings: ACMESettings, transport: any ACMETransport, now: @escaping @Sendable () -> Timestamp
    ) {
        self.settings = settings
        makeTransport = { _ in transport }
        self.now = now
    }
    #endif

    public func certificate(in folder: String) throws(CertificateIssuerError) -> IssuedCertificate? {
        #if TLS
        do throws(ACMEError) {
            return try ACMEStore(folder: folder).certificate().map {
                IssuedCertificate(chain: $0.chain, key: $0.chain)
            }
        } catch {
            throw CertificateIssuerError(reason: error.text)
        }
        #else
        return nil
        #endif
    }

    public func start(in folder: String, for server: CertificateConsumer) {
        #if TLS
        let isFirst = state.withLock { state -> Bool in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try SystemThread.start(named: "davit-acme") { [self] in
                run(ACMEStore(folder: folder), server)
                state.withLock {
                    $0.isRunning = false
                    $0.isStopping = false
                }
                state.broadcast()
            }
        } catch {
            state.withLock { $0.isRunning = false }
            server.report(.failed(reason: "cannot start a thread: \(error.description)", retrySeconds: 0))
        }
        #endif
    }

    public func stop() {
        #if TLS
        state.withLock { if $0.isRunning { $0.isStopping = true } }
        state.broadcast()
        state.wait { $0.isRunning ? nil : () }
        #endif
    }

    #if TLS
    /// Renews the certificate when it is due, until the server stops.
    private func run(_ store: ACMEStore, _ server: CertificateConsumer) {
        var schedule = RenewalSchedule()
        while true {
            let next = schedule.next(renewal: renewal(in: store), now: now())
            let left = next.nanoseconds - now().nanoseconds
            if left > 0 {
                guard pause(milliseconds: min(left / 1_000_000 + 1, Self.stepMilliseconds)) else { return }
                continue
            }
            do throws(ACMEError) {
                let validity = try issue(store, server)
                schedule.succeeded(now: now(), validity)
                server.certificateChanged()
                server.report(.issued(until: validity.upperBound))
            } catch {
                if error == .cancelled { return }
                let seconds = schedule.failed(
                    now: now(), retrySeconds: error.retrySeconds, random: .random(in: 0...(.max)))
                server.report(.failed(reason: error.text, retrySeconds: seconds))
            }
        }
    }

    /// Returns when the stored certificate is due; nil if there is none for these settings.
    func renewal(in store: ACMEStore) -> Timestamp? {
        guard let stored = try? store.certificate(), stored.directory == settings.directory,
            settings.domains.allSatisfy({ stored.identity.certificate.covers($0) }),
            let validity = try? stored.identity.certificate.validity(),
            let digest = try? stored.identity.certificate.fingerprint()
        else { return nil }
        return RenewalSchedule.renewal(
            of: validity, jitter: UInt16(digest[0]) << 8 | UInt16(digest[1]))
    }

    /// Gets and stores a certificate.
    /// - Returns: the period in which it is valid.
    private func issue(
        _ store: ACMEStore, _ server: CertificateConsumer
    ) throws(ACMEError) -> ClosedRange<Timestamp> {
        let client = ACMEClient(
            key: try store.accountKey(), transport: makeTransport { [self] in isStopping }, now: now)
        let issuance = ACMEIssuance(
            settings: settings, client: client, server: server, now: now,
            pause: { [self] in pause(milliseconds: $0) })
        let (chain, key) = try issuance.run()
        // After this, the state folder may belong to another process.
        if isStopping { throw .cancelled }
        try store.store(chain, key, directory: settings.directory)
        guard let validity = try store.certificate().flatMap({ try? $0.identity.certificate.validity() })
        else {
            throw .invalid("the validity of the certificate cannot be read")
        }
        return validity
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits, unless the server stops.
    /// - Returns: false if the server stops.
    private func pause(milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { $0.isStopping ? () : nil } == nil
    }
    #endif
}

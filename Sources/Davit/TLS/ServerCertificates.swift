internal import DavitCrypto
internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import Synchronization

#if TLS
/// Loads, renews and reloads the certificates of a server.
final class ServerCertificates: Sendable {
    private let configuration: Configuration.TLS
    /// Hosts that a self-signed certificate covers, in addition to those of the machine.
    private let hosts: [String]
    /// The folder that contains those for the server's own authority, `tls`, and for certificates of an issuer, `acme`; nil if
    /// there is none.
    private let folder: String?
    /// The answers to the challenges of an ACME server.
    let answers = ChallengeAnswers()
    private let log: Log
    private let tickets: TicketKeys
    private let now: @Sendable () -> Timestamp
    /// The fingerprints of the certificates in use, to detect changes.
    private let served = Mutex<[[UInt8]]>([])
    /// The period in which all certificates in use are valid; nil if it is unknown or empty.
    private let period = Mutex<ClosedRange<Timestamp>?>(nil)
    /// What people install to trust this server; see ``download``.
    private let offered = Mutex<AuthorityDownload?>(nil)
    /// Serializes reloads, so that the certificates read last are used.
    let reloading = Mutex<Void>(())

    init(
        _ configuration: Configuration.TLS, hosts: [String], folder: String?, log: Log,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(nanoseconds: Clock.wallNow()) }
    ) {
        self.configuration = configuration
        self.hosts = hosts
        self.folder = folder
        self.log = log
        self.now = now
        tickets = TicketKeys(now: now())
    }

    /// Certificates that were read, but are not in use yet.
    struct Loaded {
        let context: TLSContext
        fileprivate let fingerprints: [[UInt8]]
        fileprivate let period: ClosedRange<Timestamp>?
        fileprivate let download: AuthorityDownload?
    }

    /// Reads or creates all certificates, for ``use(_:)``. Blocks.
    func load() throws(ServerError) -> Loaded {
        let now = now()
        var identities: [TLSIdentity] = []
        for source in configuration.identities { identities.append(try identity(source, now: now)) }
        let temporary = try addIssued(to: &identities, now: now)
        let clients = try clients()
        for identity in identities { warn(about: identity.certificate, now: now) }
        if let temporary { identities.append(temporary) }
        do throws(TLSContext.Problem) {
            let context = try TLSContext(
                identities: identities, clients: clients, tickets: tickets,
                challenges: configuration.issuer == nil ? nil : answers.challenges)
            return Loaded(
                context: context,
                fingerprints: identities.map { (try? $0.certificate.fingerprint()) ?? [] },
                // No client trusts a temporary certificate.
                period: temporary != nil
                    ? now.adding(seconds: -3600)...now.adding(seconds: -1)
                    : Self.commonPeriod(of: identities.compactMap { try? $0.certificate.validity() }),
                download: hasOnlySelfSigned ? selfSigned?.download : nil)
        } catch {
            throw .certificateNotUsable(path: firstPath, reason: error.text)
        }
    }

    /// Records that certificates are in use, and returns their context.
    func use(_ loaded: Loaded) -> TLSContext {
        served.withLock { $0 = loaded.fingerprints }
        period.withLock { $0 = loaded.period }
        offered.withLock { $0 = loaded.download }
        return loaded.context
    }

    /// Replaces the self-signed certificate if necessary; returns a context with the new one, or nil if
    /// nothing has changed. Blocks.
    func renewed() -> TLSContext? {
        guard let maker = selfSigned else { return nil }
        do throws(ServerError) {
            let certificate = try maker.identity(now: now()).certificate
            let fingerprint = (try? certificate.fingerprint()) ?? []
            if served.withLock({ $0.contains(fingerprint) }) { return nil }
            log.info("created new certificate", ["folder": maker.folder])
            return use(try load())
        } catch {
            log.error(
                "certificate renewal failed; keeping the current certificate",
                ["reason": error.certificateReason])
            return nil
        }
    }

    /// Serves the certificates in a transport, and what people need to trust them over plain HTTP. Blocks.
    func secure(
        _ transport: inout TransportConfiguration, prefix: String
    ) throws(ServerError) {
        transport.tls = use(try load())
        transport.insecureHandler = TrustPage(self, prefix: prefix, otherwise: SecureRedirect())
        if canRenew { transport.renewTLS = { self.renewed() } }
    }

    /// Adds the ``TrustPage`` to the handler of a server with an authority of its own, because devices that trust the server
    /// already show the fingerprint to others.
    func inFront(of handler: any Handler, prefix: String) -> any Handler {
        hasOwnAuthority ? TrustPage(self, prefix: prefix, otherwise: handler) : handler
    }

    /// The period in which all certificates in use are valid: it ends when the first one expires. Nil if it is unknown.
    var validity: ClosedRange<Timestamp>? { period.withLock { $0 } }

    /// If no time is in all periods, the result is the end of the first one.
    static func commonPeriod(of periods: [ClosedRange<Timestamp>]) -> ClosedRange<Timestamp>? {
        guard let end = periods.map(\.upperBound).min(), let start = periods.map(\.lowerBound).max() else {
            return nil
        }
        return min(start, end)...end
    }

    /// Adds the certificate of the issuer.
    /// - Returns: a temporary certificate if there is none.
    private func addIssued(
        to identities: inout [TLSIdentity], now: Timestamp
    ) throws(ServerError) -> TLSIdentity? {
        guard let issuer = configuration.issuer else { return nil }
        guard let folder = issuerFolder else { throw .noStateFolder }
        do throws(CertificateIssuerError) {
            if let issued = try issuer.certificate(in: folder) {
                do throws(TLSIdentity.Problem) {
                    identities.append(try TLSIdentity(chain: issued.chain, key: issued.key))
                } catch { throw CertificateIssuerError(reason: error.text(key: nil)) }
                return nil
            }
        } catch {
            // A running server keeps its certificate.
            if served.withLock({ !$0.isEmpty }) {
                throw .certificateNotUsable(path: nil, reason: error.reason)
            }
            log.error("stored certificate cannot be used; requesting another", ["reason": error.reason])
        }
        do throws(CertificateGenerator.Problem) {
            return TLSIdentity(try CertificateGenerator.makeSelfSigned(names: issuer.domains, now: now))
        } catch {
            throw .certificateNotUsable(path: nil, reason: error.text)
        }
    }

    /// The issuer of a certificate, and the folder in which it stores it; nil without one.
    var issuer: (any CertificateIssuer)? { configuration.issuer }
    var issuerFolder: String? { folder.map { $0 + "/acme" } }
    private var ownFolder: String? { folder.map { $0 + "/tls" } }

    /// Whether ``renewed()`` can ever return a context.
    var canRenew: Bool { selfSigned != nil && configuration.certificateFault == nil }

    /// The server's own authority; nil without a self-signed certificate.
    var authority: CertificateAuthority? { selfSigned?.authority }

    /// The certificate of the server's own authority, for people who have to trust it. Nil if the server has another certificate
    /// too, which clients may already trust. Does not block.
    var download: AuthorityDownload? { offered.withLock { $0 } }

    private var hasOnlySelfSigned: Bool {
        configuration.issuer == nil
            && configuration.identities.allSatisfy { if case .selfSigned = $0 { true } else { false } }
    }

    private func identity(
        _ source: Configuration.TLS.Identity, now: Timestamp
    ) throws(ServerError) -> TLSIdentity {
        switch source {
        case .files(let certificate, let key):
            let files = CertificateFiles(certificate: certificate, key: key)
            let (identity, isKeyPrivate) = try files.load()
            if !isKeyPrivate {
                log.warning("private key file is accessible to other users", ["file": key])
            }
            return identity
        case .pem(let certificate, let key):
            do throws(TLSIdentity.Problem) {
                return try TLSIdentity(chain: certificate, key: key)
            } catch {
                throw .certificateNotUsable(path: nil, reason: error.text(key: nil))
            }
        case .selfSigned(let given):
            guard let maker = SelfSignedCertificates(folder: given ?? ownFolder, hosts: hosts) else {
                throw .noStateFolder
            }
            if let fault = configuration.certificateFault { return try maker.identity(with: fault, now: now) }
            return try maker.identity(now: now)
        }
    }

    private func clients() throws(ServerError) -> ClientCertificates {
        switch configuration.clients {
        case .off: .off
        case .optional(let path): .asked(try authorities(path))
        case .required(let path): .demanded(try authorities(path))
        }
    }

    private func authorities(_ path: String) throws(ServerError) -> [Certificate] {
        try CertificateFiles.certificates(in: path)
    }

    /// Whether all certificates are signed by an authority of the server's own, which devices can trust.
    var hasOwnAuthority: Bool { hasOnlySelfSigned && selfSigned != nil }

    private var selfSigned: SelfSignedCertificates? {
        for case .selfSigned(let given) in configuration.identities {
            return SelfSignedCertificates(folder: given ?? ownFolder, hosts: hosts)
        }
        return nil
    }

    private var firstPath: String? {
        for case .files(let path, _) in configuration.identities { return path }
        return nil
    }

    /// Logs a warning if the certificate is not valid now. The server starts nevertheless, because its clock
    /// can be wrong.
    private func warn(about certificate: Certificate, now: Timestamp) {
        guard let validity = try? certificate.validity() else { return }
        let subject = (try? certificate.subject()) ?? ""
        if now < validity.lowerBound {
            log.warning("certificate is not valid yet", ["subject": subject])
        } else if now > validity.upperBound {
            log.warning("certificate has expired", ["subject": subject])
        }
    }
}
#endif

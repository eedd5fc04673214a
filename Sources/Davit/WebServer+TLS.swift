internal import DavitLogging
internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import Synchronization

#if TLS
extension ServerCertificates {
    /// Creates the certificates of a server; returns nil without TLS.
    static func of(_ configuration: Configuration, in environment: ServerEnvironment, log: Log)
        throws(ServerError) -> ServerCertificates?
    {
        guard let tls = configuration.tls else { return nil }
        let hosts = try configuration.publicHosts() + configuration.hosts.filter { $0 != "*" && !$0.isEmpty }
        return ServerCertificates(tls, hosts: hosts, folder: environment.stateBase, log: log)
    }
}
#endif

extension ServerEnvironment {
    /// The folder in which a server stores its certificates: the state folder of the first share or, without one, that of the
    /// user.
    var stateBase: String? {
        var folder: String?
        forEachLifecycleObserver {
            if folder == nil, let share = $0 as? OpenShare { folder = share.folder.path }
        }
        return folder ?? StateFolderName.base(environment: Environment.variable)
    }
}

extension WebServer {
    /// Reads all certificates and keys again, for new connections; open connections keep theirs. Blocks.
    ///
    /// Clients can resume their TLS sessions. Does nothing without ``Configuration/tls``.
    /// - Throws: ``ServerError/certificateNotUsable(path:reason:)``; the current certificates then remain in
    ///   use.
    public func reloadCertificates() throws(ServerError) {
        #if TLS
        guard let certificates else { return }
        try certificates.reloading.withLock { (_) throws(ServerError) in
            http.replaceTLS(certificates.use(try certificates.load()))
        }
        #endif
    }

    /// The certificate authority that the server has created for
    /// ``Configuration/TLS/Identity/selfSigned(folder:)``, or nil. Reads a file on each call.
    public var certificateAuthority: CertificateAuthority? {
        #if TLS
        certificates?.authority
        #else
        nil
        #endif
    }

    /// The URL of the page on which people learn how to trust ``certificateAuthority``, with plain HTTP on a port of the server.
    /// Nil while the server is not running, without a TCP address, and if the server has any other certificate. The host is that
    /// of ``url`` without public URLs.
    public var trustPageURL: String? {
        #if TLS
        if certificates?.download == nil { return nil }
        let url = ServerURL.text(of: addresses.filter { $0.path == nil }, isSecure: false) {
            InterfaceAddresses.primary($0)?.text
        }
        return url.map { $0.dropLast() + TrustPage.path }
        #else
        return nil
        #endif
    }

    /// ``trustPageURL`` with the fingerprint of the authority as its fragment, for a QR code: a person who scans it can
    /// compare the fingerprint in the address with the one on the page.
    public var trustPageURLWithFingerprint: String? {
        #if TLS
        guard let download = certificates?.download else { return nil }
        return trustPageURL.map { $0 + TrustPage.fragment(download.fingerprint) }
        #else
        return nil
        #endif
    }
}

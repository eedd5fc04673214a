internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import Synchronization

#if TLS
extension ServerCertificates {
    /// For a server with this configuration, or nil without TLS.
    static func of(_ configuration: Configuration, in environment: ServerEnvironment, log: Log)
        throws(ServerError) -> ServerCertificates?
    {
        guard let tls = configuration.tls else { return nil }
        let hosts = try configuration.publicHosts() + configuration.hosts.filter { $0 != "*" && !$0.isEmpty }
        return ServerCertificates(tls, hosts: hosts, folder: environment.certificateFolder, log: log)
    }
}
#endif

extension ServerEnvironment {
    /// Where certificates of the server's own belong.
    fileprivate var certificateFolder: String? {
        var folder: String?
        forEachResident { if folder == nil, let share = $0 as? OpenShare { folder = share.folder.path } }
        return (folder ?? StateFolderName.base(environment: Environment.variable)).map { $0 + "/tls" }
    }
}

extension WebServer {
    /// Reads all certificates and keys again, for connections from now on; those that are open keep theirs. Blocks.
    ///
    /// Clients go on with the sessions they have. Does nothing without ``Configuration/tls``.
    /// - Throws: ``ServerError/certificateNotUsable(path:reason:)``; everything stays as it was then.
    public func reloadCertificates() throws(ServerError) {
        #if TLS
        guard let certificates else { return }
        try certificates.reloading.withLock { (_) throws(ServerError) in
            http.replaceTLS(try certificates.load())
        }
        #endif
    }

    /// The authority that the server has made, with ``Configuration/TLS/Identity/selfSigned(folder:)``; nil without one.
    /// Reads a file at each call.
    public var certificateAuthority: CertificateAuthority? {
        #if TLS
        certificates?.authority
        #else
        nil
        #endif
    }
}

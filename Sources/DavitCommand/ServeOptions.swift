package import Davit
package import DavitAccess
internal import DavitCrypto
package import DavitEngine
package import DavitFileStore
package import DavitHTTP
package import DavitLogging
package import DavitPage
package import DavitServer
package import DavitStore

/// The arguments of `davit serve`, validated as far as possible without access to the system.
package struct ServeOptions: Hashable, Sendable {
    /// An account name and its password.
    package struct User: Hashable, Sendable {
        package var name: String
        package var password: String
        /// Whether `password` is a hash that `davit password` has printed. Only in a configuration file.
        package var isHash: Bool

        package init(name: String, password: String, isHash: Bool = false) {
            self.name = name
            self.password = password
            self.isHash = isHash
        }
    }

    /// A share of a configuration file with several shares.
    package struct PlacedShare: Hashable, Sendable {
        /// The path below the prefix, such as `/team`.
        package var path: String
        /// Of these, only those that concern a share are used.
        package var options: ServeOptions
    }

    /// The log level; each level includes the ones before it.
    package enum LogLevel: String, CaseIterable, Sendable {
        case error, warning, info, access, verbose, debug
    }

    /// The folder to share, as given on the command line; empty with a database.
    package var folder: String
    /// Names or addresses, without brackets.
    package var hosts = ["localhost"]
    /// 0 selects a free port.
    package var port: UInt16 = 8080
    /// Whether neither a host nor a port was specified. A Unix socket or sockets passed by systemd then
    /// replace the default hosts.
    package var listensByDefault = true
    package var unixSocket: String?
    /// Nil for the default of ``Configuration/UnixSocket``.
    package var unixSocketMode: UInt32?
    /// The address of the admin listener; nil for none.
    package var adminAddress: Configuration.AdminListener.Address?
    /// How the server is announced in the local network; nil if it is not.
    package var announcement: ServiceAnnouncement?
    /// The public port of the router; 0 for that of the server, and nil if no port is mapped.
    package var mappedPort: UInt16?
    package var proxies = Configuration.Proxies()
    /// The names of the fields in which the proxies report the user and its groups.
    package var remoteUser: String?
    package var remoteGroups: String?
    /// A path, or `-` for standard error.
    package var accessLog: String?
    /// Nil for the default of ``Configuration/AccessLog``.
    package var accessLogFormat: AccessFormat?
    package var audit = AuditOptions()
    package var uploadCheck = UploadCheckOptions()
    package var events = EventOptions()
    package var database = DatabaseOptions()
    /// Nil for the default, which depends on the shared folder.
    package var stateFolder: String?
    package var mounts: [WebDAVShare.MountedFolder] = []
    package var homes: WebDAVShare.MountedFolder?
    package var users: [User] = []
    package var userFile: String?
    package var authentication = AuthenticationSettings()
    /// The origins of web pages that can use the server.
    package var allowedOrigins: [WebOrigin] = []
    package var isReadOnly = false
    package var rules = ShareRules()
    package var page = PageSettings()
    package var tls = TLSOptions()
    package var ldap = LDAPOptions()
    package var oidc = OIDCOptions()
    package var pam = PAMOptions()
    package var compresses = true
    package var publicURLs: [PublicURL] = []
    /// The prefix of all request paths.
    package var prefix = PathPrefix.empty
    package var logLevel = LogLevel.info
    package var sync = SyncLevel.none
    /// Nil for no limit.
    package var maximumFileBytes: Int64?
    package var maximumDepth = 1_000
    package var keptFreeBytes: Int64 = 0
    package var allowsInfiniteDepth = true
    /// Nil for the defaults of ``Configuration``.
    package var maximumConnections: Int?
    package var maximumConnectionsPerAddress: Int?
    /// Nil for no limit.
    package var maximumRequestsPerAccount: Int?
    /// Bytes per second; nil for no limit.
    package var maximumRatePerAccount: Int?
    package var maximumRatePerAddress: Int?
    package var bans = Configuration.Bans()
    /// Nil disables the trash.
    package var trash: TrashLimits?
    package var uploadSeconds: Int64 = 7 * 86_400
    package var answersSyncCollection = true
    /// The user to change to; nil to stay the user that started the command.
    package var runAs: RunAs?
    package var isSandboxed = false
    /// Whether to draw the URL as a QR code.
    package var printsQRCode = false
    /// Nil disables recording.
    package var recordingFolder: String?
    /// The file with fault rules; nil for none.
    package var faultFile: String?
    /// How long requests in flight can take to finish when the server stops.
    package var graceSeconds = 30
    /// The shares of a configuration file that has several; ``folder`` is then empty.
    package var shares: [PlacedShare] = []
    /// The rules of a configuration file; nil if there are none, so that every account has all rights.
    package var accessRules: [AccessRule]?
    /// The members of the groups in a configuration file.
    package var groups: [String: Set<String>] = [:]
    /// Environment variables that are not options.
    package var unknownVariables: [String] = []

    package init(folder: String) { self.folder = folder }

    /// Warnings about settings that are valid, but probably mistakes.
    var warnings: [String] {
        ServeSources.warnings(for: unknownVariables)
            + proxies.trusted.filter { $0.hasSuffix("/0") }.map {
                "\(ServeOption.trustedProxy.rawValue) \($0) trusts every client: each can claim any address, and with "
                    + "\(ServeOption.remoteUser.rawValue) any user"
            }
    }

    /// The options of each share: these, or those of the list of a configuration file.
    var eachShare: [ServeOptions] { shares.isEmpty ? [self] : shares.map(\.options) }

    /// The shared folder, then the mounted folders and the folder of home folders.
    var folders: [String] { [folder] + (mounts + [homes].compactMap { $0 }).map(\.folder) }
}

/// The TLS options of the command line.
package struct TLSOptions: Hashable, Sendable {
    /// Whether client certificates are required.
    package enum Clients: String, CaseIterable, Sendable { case optional, required }

    /// Files; each key belongs to the certificate at the same index.
    package var certificates: [String] = []
    package var keys: [String] = []
    package var isSelfSigned = false
    package var clientAuthorities: String?
    package var clients: Clients?
    package var acme = ACMEOptions()

    package init() {}

    package var isOn: Bool { !certificates.isEmpty || isSelfSigned || acme.settings != nil }

    /// Checks the options for consistency.
    ///
    /// - Throws: ``UsageError`` for options that conflict or are incomplete.
    func check() throws(UsageError) {
        let given = [
            (!certificates.isEmpty, ServeOption.tlsCert), (!keys.isEmpty, .tlsKey),
            (isSelfSigned, .tlsSelfSigned), (clientAuthorities != nil, .tlsClientCA),
            (clients != nil, .tlsClients),
        ].first { $0.0 }?.1
        guard let given else { return }
        guard CryptoLibrary.isAvailable else { throw .noTLS(option: given.rawValue) }
        if certificates.count != keys.count {
            throw .certificatesAndKeys(certificates: certificates.count, keys: keys.count)
        }
        guard isOn else { throw .optionNeedsCertificate(given.rawValue) }
        if clients != nil, clientAuthorities == nil { throw .clientsWithoutAuthority }
    }

    /// Nil without TLS. Without what gets the certificate of ``acme``.
    var configuration: Configuration.TLS? {
        guard isOn else { return nil }
        var identities: [Configuration.TLS.Identity] = zip(certificates, keys).map {
            .files(certificate: $0, key: $1)
        }
        if isSelfSigned { identities.append(.selfSigned()) }
        var tls = Configuration.TLS(identities: identities)
        tls.plainPort = acme.plainPort
        if let clientAuthorities {
            tls.clients =
                clients == .optional
                ? .optional(authorities: clientAuthorities) : .required(authorities: clientAuthorities)
        }
        return tls
    }
}

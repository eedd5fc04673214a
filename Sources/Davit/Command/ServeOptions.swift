package import DavitEngine
package import DavitFileStore
package import DavitHTTP
package import DavitPage
package import DavitServer
package import DavitStore

/// What `davit serve` was asked to do, checked as far as that goes without looking at the machine.
package struct ServeOptions: Hashable, Sendable {
    /// A name and its password.
    package struct User: Hashable, Sendable {
        package var name: String
        package var password: String

        package init(name: String, password: String) {
            self.name = name
            self.password = password
        }
    }

    /// How much is logged; each level holds the ones before it.
    package enum LogLevel: String, CaseIterable, Sendable {
        case error, warning, info, access, verbose, debug
    }

    /// The folder to share, as given.
    package var folder: String
    /// Names or addresses, without brackets.
    package var hosts = ["localhost"]
    /// 0 lets the system choose.
    package var port: UInt16 = 8080
    /// Neither a host nor a port was asked for: sockets that systemd hands over take the place of the default.
    package var listensByDefault = true
    package var unixSocket: String?
    /// Nil for the default of ``Configuration/UnixSocket``.
    package var unixSocketMode: UInt32?
    package var proxies = Configuration.Proxies()
    /// A path, or `-` for standard error.
    package var accessLog: String?
    /// Nil for the default of ``Configuration/AccessLog``.
    package var accessLogFormat: AccessFormat?
    /// Nil for the default, which depends on the shared folder.
    package var stateFolder: String?
    package var users: [User] = []
    package var userFile: String?
    package var authentication = AuthenticationSettings()
    /// Whose pages may use the server from a browser.
    package var allowedOrigins: [WebOrigin] = []
    package var isReadOnly = false
    package var rules = ShareRules()
    package var page = PageSettings()
    package var tls = TLSOptions()
    package var compresses = true
    package var publicURLs: [PublicURL] = []
    /// The beginning of all paths that arrive.
    package var prefix = PathPrefix.empty
    package var logLevel = LogLevel.info
    package var sync = SyncLevel.none
    /// Nil for no limit.
    package var maximumFileBytes: Int64?
    package var maximumDepth = 1_000
    package var keptFreeBytes: Int64 = 0
    /// Nil for no trash.
    package var trash: TrashLimits?
    package var uploadSeconds: Int64 = 7 * 86_400
    package var answersSyncCollection = true
    /// Whether the URL is also drawn, for the cameras of telephones.
    package var printsQRCode = false
    /// Nil records nothing.
    package var recordingFolder: String?
    /// How long requests in flight may take to end after SIGTERM.
    package var graceSeconds = 30

    package init(folder: String) { self.folder = folder }

    /// A host that others can reach, or nil if all are loopback.
    package var exposedHost: String? { hosts.first { !Self.isLoopback($0) } }

    /// `localhost`, `::1` and 127.0.0.0/8. Other names are not looked up: what they lead to can change.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }
}

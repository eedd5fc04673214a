/// The options of `davit serve`.
enum ServeOption: String, CaseIterable {
    case host = "--host"
    case port = "--port"
    case stateDir = "--state-dir"
    case user = "--user"
    case userFile = "--user-file"
    case auth = "--auth"
    case realm = "--realm"
    case allowOrigin = "--allow-origin"
    case readOnly = "--read-only"
    case allowExtensions = "--allow-extensions"
    case noHidden = "--no-hidden"
    case macMetadata = "--mac-metadata"
    case title = "--title"
    case header = "--header"
    case prologue = "--prologue"
    case epilogue = "--epilogue"
    case footer = "--footer"
    case noPage = "--no-page"
    case noCompression = "--no-compression"
    case noSyncCollection = "--no-sync-collection"
    case qr = "--qr"
    case publicURL = "--public-url"
    case prefix = "--prefix"
    case unixSocket = "--unix-socket"
    case unixSocketMode = "--unix-socket-mode"
    case trustedProxy = "--trusted-proxy"
    case proxyFields = "--proxy-fields"
    case accessLog = "--access-log"
    case accessLogFormat = "--access-log-format"
    case logLevel = "--log-level"
    case grace = "--grace"
    case record = "--record"
    case sync = "--sync"
    case maxFileSize = "--max-file-size"
    case maxDepth = "--max-depth"
    case keepFree = "--keep-free"
    case trash = "--trash"
    case trashDays = "--trash-days"
    case trashSize = "--trash-size"
    case uploadExpiry = "--upload-expiry"
    case tlsCert = "--tls-cert"
    case tlsKey = "--tls-key"
    case tlsSelfSigned = "--tls-self-signed"
    case tlsClientCA = "--tls-client-ca"
    case tlsClients = "--tls-clients"

    /// Returns the option with this name or former name.
    init?(named name: String) {
        self.init(rawValue: name == "--litter" ? Self.macMetadata.rawValue : name)
    }

    var takesValue: Bool {
        switch self {
        case .readOnly, .noHidden, .tlsSelfSigned, .noCompression, .noSyncCollection, .trash, .qr, .noPage:
            false
        default: true
        }
    }
}

internal import Davit
internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitLogging
internal import DavitQRCode
internal import DavitServer
internal import DavitStore

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
    case faults = "--faults"
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

/// The arguments of `davit serve`.
extension Arguments {
    mutating func serve() throws(UsageError) -> Invocation {
        var options = ServeOptions(folder: "")
        var hosts: [String] = []
        let folder = try folder { (arguments, word) throws(UsageError) in
            try arguments.option(word, &options, &hosts)
        }
        guard let folder else { return .help(.serve) }
        options.folder = folder
        if !hosts.isEmpty {
            options.hosts = hosts
            options.listensByDefault = false
        }
        try Self.checkDeployment(&options)
        try options.tls.check()
        return .serve(options)
    }

    /// Parses one option and its value, which is the next word or follows `=`.
    private mutating func option(
        _ word: String, _ options: inout ServeOptions, _ hosts: inout [String]
    ) throws(UsageError) {
        let (name, behindSign) = Self.parts(of: word)
        guard let option = ServeOption(named: name) else {
            let all = ServeOption.allCases.map(\.rawValue) + ["--help"]
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: all))
        }
        guard option.takesValue else {
            if behindSign != nil { throw .unwantedValue(option: name) }
            switch option {
            case .tlsSelfSigned: options.tls.isSelfSigned = true
            case .noCompression: options.compresses = false
            case .noHidden: options.rules.allowsHiddenItems = false
            case .noSyncCollection: options.answersSyncCollection = false
            case .trash: options.trash = options.trash ?? TrashLimits()
            case .qr:
                guard QRCodeLibrary.isAvailable else { throw .noQRCodes(option: name) }
                options.printsQRCode = true
            case .noPage: options.page.isEnabled = false
            default: options.isReadOnly = true
            }
            return
        }
        let value = try value(of: name, behindSign: behindSign)
        switch option {
        case .host: hosts.append(Self.withoutBrackets(value))
        case .port:
            options.port = try Self.number(value, option: name, in: 0...65535)
            options.listensByDefault = false
        case .unixSocket, .unixSocketMode, .publicURL, .prefix, .trustedProxy, .proxyFields, .accessLog,
            .accessLogFormat:
            try Self.deploymentOption(option, value, &options)
        case .stateDir: options.stateFolder = value
        case .user: options.users.append(try Self.user(value))
        case .userFile: options.userFile = value
        case .auth: options.authentication.schemes = try Self.schemes(value)
        case .realm: options.authentication.realm = value
        case .allowOrigin: options.allowedOrigins.append(try Self.origin(value))
        case .logLevel:
            guard let level = ServeOptions.LogLevel(rawValue: value) else { throw .badLogLevel(value) }
            options.logLevel = level
        case .sync:
            guard let level = SyncLevel(rawValue: value) else { throw .badSyncLevel(value) }
            options.sync = level
        case .maxFileSize: options.maximumFileBytes = try Self.bytes(value, option: name)
        case .maxDepth: options.maximumDepth = try Self.number(value, option: name, in: 1...100_000)
        case .trashDays:
            options.trash = options.trash ?? TrashLimits()
            options.trash?.days = try Self.number(value, option: name, in: 1...36_500)
        case .trashSize:
            options.trash = options.trash ?? TrashLimits()
            options.trash?.bytes = try Self.bytes(value, option: name)
        case .keepFree: options.keptFreeBytes = try Self.bytes(value, option: name)
        case .uploadExpiry: options.uploadSeconds = try Self.age(value, option: name)
        case .allowExtensions: options.rules.allowedExtensions = try Self.extensions(value)
        case .macMetadata:
            guard let policy = MacMetadataPolicy(rawValue: value) else { throw .badMacMetadataPolicy(value) }
            options.rules.macMetadata = policy
        case .title: options.page.title = value
        case .header: options.page.header = value
        case .prologue: options.page.prologue = value
        case .epilogue: options.page.epilogue = value
        case .footer: options.page.footer = value
        case .record: options.recordingFolder = value
        case .faults: options.faultFile = value
        case .grace: options.graceSeconds = try Self.number(value, option: name, in: 0...3600)
        case .tlsCert: options.tls.certificates.append(value)
        case .tlsKey: options.tls.keys.append(value)
        case .tlsClientCA: options.tls.clientAuthorities = value
        case .tlsClients:
            guard let clients = TLSOptions.Clients(rawValue: value) else { throw .badTLSClients(value) }
            options.tls.clients = clients
        case .readOnly, .noHidden, .tlsSelfSigned, .noCompression, .noSyncCollection, .trash, .qr, .noPage:
            break
        }
    }
}

/// The options for sockets, proxies and logs.
extension Arguments {
    static func deploymentOption(
        _ option: ServeOption, _ value: String, _ options: inout ServeOptions
    ) throws(UsageError) {
        switch option {
        case .unixSocket: options.unixSocket = value
        case .unixSocketMode:
            guard (3...4).contains(value.utf8.count), let mode = UInt32(value, radix: 8), mode <= 0o777,
                value.utf8.first != UInt8(ascii: "+")
            else { throw .badSocketMode(value) }
            options.unixSocketMode = mode
        case .publicURL:
            guard let url = PublicURL(parsing: value) else { throw .badPublicURL(value) }
            options.publicURLs.append(url)
        case .prefix:
            guard let prefix = PathPrefix(value) else { throw .badPrefix(value) }
            options.prefix = prefix
        case .trustedProxy:
            guard Configuration.Proxies.isUsable(value) else { throw .badTrustedProxy(value) }
            options.proxies.trusted.append(value)
        case .proxyFields:
            guard let fields = TrustedProxies.Fields(rawValue: value) else { throw .badProxyFields(value) }
            options.proxies.fields = fields
        case .accessLog: options.accessLog = value
        case .accessLogFormat:
            guard let format = AccessFormat(rawValue: value) else { throw .badAccessLogFormat(value) }
            options.accessLogFormat = format
        default: break
        }
    }

    /// Validates combinations of options after all of them have been parsed, and removes the default hosts if
    /// a Unix socket replaces them.
    static func checkDeployment(_ options: inout ServeOptions) throws(UsageError) {
        if options.unixSocket == nil, options.unixSocketMode != nil {
            throw useless(.unixSocketMode, without: .unixSocket)
        }
        if options.accessLog == nil, options.accessLogFormat != nil {
            throw useless(.accessLogFormat, without: .accessLog)
        }
        if options.proxies.trusted.isEmpty, options.proxies.fields != .either {
            throw useless(.proxyFields, without: .trustedProxy)
        }
        for url in options.publicURLs
        where url.prefix != .empty && url.prefix.removing(suffix: options.prefix) == nil {
            throw .publicURLOutsidePrefix(url.text)
        }
        if options.unixSocket != nil, options.listensByDefault { options.hosts = [] }
    }

    private static func useless(_ option: ServeOption, without other: ServeOption) -> UsageError {
        .useless(option: option.rawValue, without: other.rawValue)
    }
}

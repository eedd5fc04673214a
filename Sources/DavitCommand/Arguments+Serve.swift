internal import DavitEngine
internal import DavitFileStore
internal import DavitQRCode
internal import DavitStore

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
        if options.users.isEmpty, options.userFile == nil, let host = options.exposedHost {
            throw .openToEverybody(host: host)
        }
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

internal import Davit
internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitLogging
internal import DavitNATMapping
internal import DavitQRCode
internal import DavitServer
internal import DavitStore

/// The arguments of `davit serve`.
extension Arguments {
    mutating func serve() throws(UsageError) -> Invocation {
        var sources = ServeSources()
        var draft = ServeDraft()
        let folders = try others { (arguments, word) throws(UsageError) in
            let setting = try arguments.setting(word)
            if setting.option == .config {
                sources.file = setting.value
                return
            }
            try draft.apply([setting])
            sources.commandLine.append(setting)
        }
        guard let folders else { return .help(.serve) }
        sources.folder = try Self.only(folders, isRequired: false)
        try sources.read(environment)
        if sources.file != nil { return .serveFile(sources) }
        let options = try sources.options()
        if sources.folder == nil, options.database.servers.isEmpty { throw .missingFolder }
        return .serve(options)
    }

    /// Parses an option and its value, which is the next word or follows `=`.
    mutating func setting(_ word: String) throws(UsageError) -> OptionSetting {
        let (name, behindSign) = Self.parts(of: word)
        guard let option = ServeOption(named: name) else {
            let all = ServeOption.allCases.map(\.rawValue) + ["--help"]
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: all))
        }
        guard option.takesValue else {
            if behindSign != nil { throw .unwantedValue(option: name) }
            return OptionSetting(option, "true", .commandLine)
        }
        // Another empty value is more likely a mistake, such as a variable of the shell that is not set.
        let canBeEmpty = option.entry.kind.accepts("")
        return OptionSetting(
            option, try value(of: name, behindSign: behindSign, canBeEmpty: canBeEmpty), .commandLine)
    }

    /// Puts the value of an option into the options of `davit serve`. A flag has no value.
    static func apply(
        _ option: ServeOption, _ value: String, _ options: inout ServeOptions, _ hosts: inout [String],
        _ acme: inout ACMEValues, _ ldap: inout LDAPValues, _ oidc: inout OIDCValues
    ) throws(UsageError) {
        let name = option.rawValue
        switch option {
        case .host: hosts.append(Self.withoutBrackets(value))
        case .port:
            options.port = try Self.number(value, option: name, in: option.range)
            options.listensByDefault = false
        case .runAs: options.runAs = try RunAs(parsing: value)
        case .mapPort:
            guard NATMappingLibrary.isAvailable else { throw .traitNeeded(option: name, trait: "NATMapping") }
            options.mappedPort = try Self.number(value, option: name, in: option.range)
        case .unixSocket, .unixSocketMode, .announce, .announceOn, .adminListen, .publicURL, .prefix,
            .trustedProxy, .proxyFields,
            .remoteUser, .remoteGroups, .accessLog, .accessLogFormat, .auditLog, .auditFailure,
            .auditLogSize, .auditLogKeep:
            try Self.deploymentOption(option, value, &options)
        case .database: try options.database.add(server: value)
        case .blobs: options.database.blobs = value
        case .share: options.database.share = value
        case .stateDir: options.stateFolder = value
        case .home: options.homes = try Self.homes(value)
        case .mount: options.mounts.append(try Self.mount(value))
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
        case .maxFileSize: options.maximumFileBytes = try Self.limit(value, option: name)
        case .maxDepth: options.maximumDepth = try Self.number(value, option: name, in: option.range)
        case .trashDays:
            options.trash = options.trash ?? TrashLimits()
            options.trash?.days = try Self.number(value, option: name, in: option.range)
        case .trashSize:
            options.trash = options.trash ?? TrashLimits()
            options.trash?.bytes = try Self.limit(value, option: name)
        case .maxConnections:
            options.maximumConnections = try Self.number(value, option: name, in: option.range)
        case .maxConnectionsPerAddress:
            options.maximumConnectionsPerAddress = try Self.number(value, option: name, in: option.range)
        case .maxRequestsPerAccount:
            options.maximumRequestsPerAccount = try Self.number(value, option: name, in: option.range)
        case .maxRatePerAccount: options.maximumRatePerAccount = try Self.rate(value, option: name)
        case .maxRatePerAddress: options.maximumRatePerAddress = try Self.rate(value, option: name)
        case .banAfter: options.bans.failedLogins = try Self.number(value, option: name, in: option.range)
        case .banMinutes:
            let minutes: Int = try Self.number(value, option: name, in: option.range)
            options.bans.duration = .seconds(60 * minutes)
        case .neverBan:
            guard Configuration.Bans.isUsable(value) else { throw .badNetwork(value, option: name) }
            options.bans.exempt.append(value)
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
        case .checkUploads: options.uploadCheck.command = try Self.command(value, option: option)
        case .checkUploadsFailure:
            guard let policy = UploadProgram.FailurePolicy(rawValue: value) else {
                throw .badUploadFailure(value)
            }
            options.uploadCheck.failure = policy
        case .checkUploadsSeconds:
            options.uploadCheck.seconds = try Self.number(value, option: name, in: option.range)
        case .eventCommand, .eventURL, .eventSecretFile, .eventCA, .eventTypes:
            try Self.eventOption(option, value, &options.events)
        case .faults: options.faultFile = value
        case .grace: options.graceSeconds = try Self.number(value, option: name, in: option.range)
        case .acme: acme.domains.append(value)
        case .acmeAgree: acme.isAgreed = true
        case .acmeHTTP: acme.plainPort = try Self.number(value, option: name, in: option.range)
        case .acmeDirectory, .acmeEmail, .acmeCA, .acmeAccount, .acmeAccountKeyFile:
            acme.values[option] = value
        case .ldap, .ldapBase, .ldapBind, .ldapPasswordFile, .ldapFilter, .ldapUserDN, .ldapGroupFilter,
            .ldapCA:
            ldap.values[option] = value
        case .oidcIssuer, .oidcClientID, .oidcClientSecretFile, .oidcUserClaim, .oidcGroupsClaim, .oidcScopes,
            .oidcName, .oidcCA:
            oidc.values[option] = value
        case .pam: options.pam.service = value
        case .pamHelper: options.pam.helper = value
        case .tlsCert: options.tls.certificates.append(value)
        case .tlsKey: options.tls.keys.append(value)
        case .tlsClientCA: options.tls.clientAuthorities = value
        case .tlsClients:
            guard let clients = TLSOptions.Clients(rawValue: value) else { throw .badTLSClients(value) }
            options.tls.clients = clients
        case .readOnly: options.isReadOnly = true
        case .tlsSelfSigned: options.tls.isSelfSigned = true
        case .noCompression: options.compresses = false
        case .noHidden: options.rules.allowsHiddenItems = false
        case .noSyncCollection: options.answersSyncCollection = false
        case .trash: options.trash = options.trash ?? TrashLimits()
        case .announceWindows:
            options.announcement = options.announcement ?? ServiceAnnouncement()
            options.announcement?.includesWindows = true
        case .qr:
            guard QRCodeLibrary.isAvailable else { throw .noQRCodes(option: name) }
            options.printsQRCode = true
        case .noPage: options.page.isEnabled = false
        case .ldapPlain: ldap.isPlain = true
        case .sandbox: options.isSandboxed = true
        case .noInfiniteDepth: options.allowsInfiniteDepth = false
        case .config: break
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
            guard let mode = mode(value) else { throw .badSocketMode(value) }
            options.unixSocketMode = mode
        case .announce:
            options.announcement = ServiceAnnouncement(
                name: value, interfaces: options.announcement?.interfaces ?? [],
                includesWindows: options.announcement?.includesWindows ?? false)
            if let problem = options.announcement?.problem { throw .badAnnouncement(problem) }
        case .announceOn:
            // Without a name until --announce; see checkDeployment(_:).
            options.announcement = options.announcement ?? ServiceAnnouncement()
            options.announcement?.interfaces.append(value)
        case .adminListen:
            guard let listener = Configuration.AdminListener(parsing: value) else {
                throw .badAdminListener(value)
            }
            options.adminAddress = listener.address
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
        case .remoteUser: options.remoteUser = try identityField(value, option)
        case .remoteGroups: options.remoteGroups = try identityField(value, option)
        case .accessLog: options.accessLog = value
        case .accessLogFormat:
            guard let format = AccessFormat(rawValue: value) else { throw .badAccessLogFormat(value) }
            options.accessLogFormat = format
        case .auditLog:
            // Other programs write there, too.
            if value == "-" { throw .auditLogToStandardError }
            options.audit.path = value
        case .auditFailure:
            guard let policy = AuditLog.FailurePolicy(rawValue: value) else { throw .badAuditFailure(value) }
            options.audit.failure = policy
        case .auditLogSize: options.audit.bytes = try bytes(value, option: option.rawValue)
        case .auditLogKeep:
            options.audit.count = try number(value, option: option.rawValue, in: option.range)
        default: break
        }
    }

    /// Validates combinations of options after all of them have been parsed, and removes the default hosts if
    /// a Unix socket replaces them.
    static func checkDeployment(_ options: inout ServeOptions) throws(UsageError) {
        if options.unixSocket == nil, options.unixSocketMode != nil {
            throw useless(.unixSocketMode, without: .unixSocket)
        }
        if let announcement = options.announcement, announcement.name.isEmpty {
            throw useless(
                announcement.includesWindows ? .announceWindows : .announceOn, without: .announce)
        }
        if options.accessLog == nil, options.accessLogFormat != nil {
            throw useless(.accessLogFormat, without: .accessLog)
        }
        try options.audit.check()
        try options.uploadCheck.check()
        try options.events.check()
        try options.checkDatabase()
        if options.proxies.trusted.isEmpty, options.proxies.fields != .either {
            throw useless(.proxyFields, without: .trustedProxy)
        }
        try checkIdentityFields(&options)
        for url in options.publicURLs
        where url.prefix != .empty && url.prefix.removing(suffix: options.prefix) == nil {
            throw .publicURLOutsidePrefix(url.text)
        }
        if options.unixSocket != nil, options.listensByDefault { options.hosts = [] }
    }

    private static func identityField(
        _ name: String, _ option: ServeOption
    ) throws(UsageError) -> String {
        guard IdentityFields.isUsable(name) else {
            throw .badIdentityField(name, option: option.rawValue)
        }
        return name
    }

    private static func checkIdentityFields(_ options: inout ServeOptions) throws(UsageError) {
        guard let user = options.remoteUser else {
            if options.remoteGroups != nil { throw useless(.remoteGroups, without: .remoteUser) }
            return
        }
        if options.proxies.trusted.isEmpty { throw useless(.remoteUser, without: .trustedProxy) }
        guard let fields = IdentityFields(user: user, groups: options.remoteGroups) else {
            throw .badIdentityField(options.remoteGroups ?? user, option: ServeOption.remoteGroups.rawValue)
        }
        options.proxies.identityFields = fields
    }

    private static func useless(_ option: ServeOption, without other: ServeOption) -> UsageError {
        .useless(option: option.rawValue, without: other.rawValue)
    }
}

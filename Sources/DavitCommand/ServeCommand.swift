package import Davit
internal import DavitAccess
internal import DavitControl
internal import DavitFaults
internal import DavitFileStore
internal import DavitLDAP
internal import DavitLogging
internal import DavitPAM
internal import DavitQRCode
internal import DavitServer
internal import DavitSystem
internal import DavitTransport
internal import DavitYAML

/// `davit serve`: starts a server and runs it until it stops.
package struct ServeCommand {
    let options: ServeOptions
    /// Nil without a configuration file.
    private let file: (sources: ServeSources, plan: ServePlan)?
    /// The configuration file, and the files with passwords that it names.
    var files: [String] { file.map { $0.plan.files } ?? [] }
    /// The settings that take effect; empty without a configuration file.
    var settings: [OptionSetting] { file.map { $0.plan.settings } ?? [] }
    /// Returns where the rules of a share are in the configuration file.
    func rulePosition(_ path: String) -> YAMLPosition? { file?.plan.rulePositions[path] }
    /// The rules of the configuration file, by the path of the share.
    private let rules: [String: ReloadableRules]

    package init(options: ServeOptions) {
        self.options = options
        file = nil
        rules = [:]
    }

    /// Reads the configuration file. Blocks.
    package init(sources: ServeSources) throws(CommandFailure) {
        let plan = try ServePlan(sources)
        options = plan.options
        file = (sources, plan)
        var rules: [String: ReloadableRules] = [:]
        for (path, options) in plan.placedOptions {
            guard let given = options.accessRules else { continue }
            rules[path] = ReloadableRules(try AccessRules(of: given, options.groups))
        }
        self.rules = rules
    }

    /// Serves until a signal stops it. Blocks.
    func run() throws(CommandFailure) {
        for warning in options.warnings {
            StandardStreams.writeError("davit: \(warning)\n")
        }
        ProcessMemory.returnLargeBlocks()
        let configuration = try configuration(on: try giveUpPrivileges())
        if options.isSandboxed { try enterSandbox() }
        let server = try open(configuration)
        do throws(ServerError) {
            stopWithTerminal(server)
            let addresses = try server.start()
            // Programs that read this line may only support TCP addresses, so those come first.
            let places = addresses.filter { $0.path == nil } + addresses.filter { $0.path != nil }
            let urls = places.map {
                ServerURL.below($0.url(scheme: configuration.scheme), prefix: configuration.prefix)
            }.joined(separator: " and ")
            if let authority = server.certificateAuthority {
                StandardStreams.writeError(
                    "davit: this server's certificate is signed by \(authority.path)\n"
                        + "       SHA-256 \(authority.fingerprint)\n")
            }
            // A phone can open the server's address only once it trusts the authority.
            let trustPage = server.trustPageURL
            if let trustPage {
                StandardStreams.writeError(
                    "davit: on each device that should trust it, open \(trustPage)\n")
            }
            if options.printsQRCode { Self.draw(server.trustPageURLWithFingerprint ?? server.url) }
            // Arm the faults before the ready line is printed, because the crash tests count steps from that
            // line on.
            FileFaults.arm(.ready)
            StandardStreams.writeOutput("davit is ready at \(urls)\n")
            ServiceManager.ready()
            ProcessMemory.returnCode()
            server.waitUntilStopped()
        } catch {
            throw CommandFailure(error, folder: options.folder)
        }
    }

    /// Creates the server of ``run()``, but without signals, for tests. Blocks.
    package func makeServer() throws(CommandFailure) -> WebServer {
        var configuration = try configuration(on: addresses())
        configuration.stopsOnSignals = false
        configuration.reloadsOnSIGHUP = false
        configuration.notifiesServiceManager = false
        return try open(configuration)
    }

    /// Opens everything that the server needs.
    private func open(_ configuration: Configuration) throws(CommandFailure) -> WebServer {
        FileFaults.arm(.start)
        do throws(ServerError) { return try server(configuration) } catch {
            throw CommandFailure(error, folder: options.folder).naming(options.tls)
        }
    }

    private func server(_ configuration: Configuration) throws(ServerError) -> WebServer {
        let server: WebServer
        if options.shares.isEmpty {
            server = try WebServer(Self.share(options, rules[""]), configuration: configuration)
        } else {
            server = try WebServer(configuration: configuration) { routes in
                // A share hides what others have at and below its path.
                for share in options.shares.sorted(by: { $0.path.utf8.count < $1.path.utf8.count }) {
                    routes.mount(share.path, Self.share(share.options, rules[share.path]))
                }
            }
        }
        reloadSettings(of: server, configuration.accounts)
        return server
    }

    /// Makes a reload read the configuration file or, without one, the user file, if there is one.
    private func reloadSettings(of server: WebServer, _ accounts: [Configuration.Account]) {
        guard let file else {
            if options.userFile == nil { return }
            let reload = UserFileReload(self, accounts: accounts)
            return server.handleReload { [weak server] in server.map { reload.run($0) } ?? .init() }
        }
        let reload = ServeReload(file.sources, file.plan, rules, accounts: accounts)
        server.handleReload { [weak server] in server.map { reload.run($0) } ?? .init() }
    }

    /// Draws the QR code on standard error, because standard output contains only the ready line. Prints only
    /// the URL if it is too long for a QR code.
    private static func draw(_ url: String?) {
        guard let url else { return }
        let code = QRCode(encoding: url)?.terminalText(isColored: StandardStreams.errorHasTerminal) ?? ""
        StandardStreams.writeError("\(code)\(url)\n")
    }

    /// Stops the server when its terminal is closed. The signal for that, SIGHUP, otherwise requests a reload
    /// of the settings.
    private func stopWithTerminal(_ server: WebServer) {
        guard StandardStreams.hasTerminal else { return }
        server.onReload { [weak server] in
            if !StandardStreams.hasTerminal { server?.shutdown() }
        }
    }

    private static func share(_ options: ServeOptions, _ rules: ReloadableRules?) -> WebDAVShare {
        var share = WebDAVShare(
            options.folder, stateFolder: options.stateFolder, isReadOnly: options.isReadOnly,
            sync: options.sync)
        share.database = options.sharedDatabase
        share.mounts = options.mounts
        share.homes = options.homes
        share.maximumFileBytes = options.maximumFileBytes
        share.maximumDepth = options.maximumDepth
        share.allowsInfiniteDepth = options.allowsInfiniteDepth
        share.keptFreeBytes = options.keptFreeBytes
        share.trash = options.trash
        share.uploadExpiry = .seconds(options.uploadSeconds)
        share.rules = options.rules
        share.page = options.page
        share.answersSyncCollection = options.answersSyncCollection
        share.uploadProgram = options.uploadCheck.program
        share.access = rules
        return share
    }

    /// - Parameter sockets: contains only the addresses, sockets and TLS settings.
    func configuration(on sockets: Configuration) throws(CommandFailure) -> Configuration {
        try options.checkPrograms()
        var configuration = sockets
        configuration.notifiesServiceManager = true
        configuration.proxies = options.proxies
        configuration.accessLog = options.accessLog.map { path in
            .init(path == "-" ? .standardError : .file(path), format: options.accessLogFormat ?? .combined)
        }
        configuration.audit = options.audit.configuration
        configuration.events = try options.events.settings()
        configuration.portMapping = try options.portMapping()
        configuration.accounts = try accounts()
        if let directory = try options.ldap.directory() { configuration.passwordVerifiers.append(directory) }
        if let service = try options.pam.verifier() { configuration.passwordVerifiers.append(service) }
        configuration.signInProvider = try options.oidc.provider()
        configuration.compresses = options.compresses
        configuration.authentication = options.authentication
        if !options.allowedOrigins.isEmpty {
            configuration.cors = CORS(origins: options.allowedOrigins.map(\.text))
        }
        configuration.publicURLs = options.publicURLs.map(\.text)
        configuration.prefix = options.prefix.text
        configuration.logLevel = options.logLevel.level
        configuration.grace = .seconds(options.graceSeconds)
        configuration.recordingFolder = options.recordingFolder
        // Before the server creates the files.
        do throws(ServerError) {
            try configuration.checkFiles { sharedFolder(containing: $0) }
        } catch {
            throw CommandFailure(error, folder: options.folder)
        }
        var certificateFault: CertificateFault?
        if let path = options.faultFile {
            let plan = try Self.faultRules(at: path)
            StandardStreams.writeError("davit: injecting faults from \(path) with seed=\(plan.seed)\n")
            configuration.outerMiddleware.insert(FaultInjector(plan), at: 0)
            if plan.certificateFault != nil, !options.tls.isSelfSigned {
                throw .faultFileUnreadable(path, reason: "tls=... requires --tls-self-signed")
            }
            certificateFault = plan.certificateFault
        }
        configuration.announcement = options.announcement
        if !options.shares.isEmpty { configuration.announceShares(at: options.shares.map(\.path)) }
        configuration.adminListener = options.adminAddress.map { Configuration.AdminListener($0) }
        if let limit = options.maximumConnections { configuration.maxConnections = limit }
        if let limit = options.maximumConnectionsPerAddress { configuration.maxConnectionsPerAddress = limit }
        configuration.bans = options.bans
        configuration.maxRequestsPerAccount = options.maximumRequestsPerAccount
        configuration.maxRatePerAccount = options.maximumRatePerAccount
        configuration.maxRatePerAddress = options.maximumRatePerAddress
        configuration.stopsOnSignals = true
        configuration.reloadsOnSIGHUP = true
        configuration.tls?.issuer = try options.tls.acme.issuer()
        configuration.tls?.certificateFault = certificateFault
        return configuration
    }

    private static func faultRules(at path: String) throws(CommandFailure) -> FaultRuleSet {
        let file: SmallFile
        do throws(SystemError) { file = try SmallFile(reading: path, limitBytes: 1 << 20) } catch {
            throw .faultFileUnreadable(path, reason: error.description)
        }
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            throw .faultFileUnreadable(path, reason: "the file is not UTF-8 text")
        }
        do throws(FaultRuleError) { return try FaultRuleSet(parsing: text) } catch {
            throw .faultFileUnreadable(path, reason: "line \(error.line): \(error.text): \(error.problem)")
        }
    }

    /// Returns the accounts of the command line and of the user file, which is read on each call.
    func accounts() throws(CommandFailure) -> [Configuration.Account] {
        var accounts = options.users.map {
            $0.isHash
                ? Configuration.Account(name: $0.name, hash: $0.password)
                : Configuration.Account(name: $0.name, password: $0.password)
        }
        if let path = options.userFile {
            let file: SmallFile
            do throws(SystemError) { file = try SmallFile(reading: path) } catch {
                throw .userFileUnreadable(path, reason: error.description)
            }
            guard UserFile.isPrivate(mode: file.mode) else {
                if !file.isRegular {
                    throw .userFileUnreadable(path, reason: UserFile.reasonNotAFile)
                }
                throw .userFileNotPrivate(path)
            }
            accounts += try UserFile.parse(file.bytes, path: path)
        }
        return accounts
    }
}

extension ServeOptions.LogLevel {
    var level: Log.Level {
        switch self {
        case .error: .error
        case .warning: .warning
        case .info: .info
        case .access: .access
        case .verbose: .verbose
        case .debug: .debug
        }
    }
}

extension CommandFailure {
    /// Converts an error from the server to a message for the command line.
    ///
    /// - Parameter folder: the shared folder, as given on the command line.
    package init(_ error: ServerError, folder: String) {
        switch error {
        case .shareNotUsable(let path, .missing): self = .folderMissing(path)
        case .shareNotUsable(let path, .notADirectory): self = .notAFolder(path)
        case .shareNotUsable(let path, .notReadable): self = .folderNotReadable(path)
        case .shareNotUsable(let path, .failed(let reason)): self = .other("\(path): \(reason)")
        case .noStateFolder: self = .noStateFolder
        case .stateFolderNotUsable(let path, let error):
            self = .stateFolderNotWritable(path, reason: error.description)
        case .stateFolderInsideShare(let path): self = .stateFolderInShare(state: path, share: folder)
        case .stateFolderHeld(let path, let process): self = .stateFolderHeld(path, process: process ?? 0)
        case .stateNotUsable(let path, let reason): self = .stateUnreadable(path, reason: reason)
        case .recordingFolderNotUsable(let path, let error):
            self = .recordingFolderNotWritable(path, reason: error.description)
        case .recordingFolderNotEmpty(let path): self = .recordingFolderNotEmpty(path)
        case .recordingFolderInsideShare(let path): self = .recordingFolderInShare(path, share: folder)
        case .accessLogInsideShare(let path, let share):
            self = .logInShare(option: ServeOption.accessLog.rawValue, path, share: share)
        case .auditLogInsideShare(let path, let share):
            self = .logInShare(option: ServeOption.auditLog.rawValue, path, share: share)
        case .mountNotUsable(let reason): self = .other(reason)
        case .foldersChanged(let path, let reason, let record):
            self = .foldersChanged(path, reason: reason, record: record)
        case .homesWithoutAccounts: self = .homesWithoutAccounts(share: folder)
        case .serverNameMalformed(let name): self = .other("invalid server name '\(name)'")
        case .publicURLMalformed(let url): self = .other("invalid public URL '\(url)'")
        case .prefixMalformed(let prefix): self = .other(UsageError.badPrefix(prefix).message)
        case .publicURLOutsidePrefix(let url): self = .other(UsageError.publicURLOutsidePrefix(url).message)
        case .announcementMalformed(let problem): self = .other(UsageError.badAnnouncement(problem).message)
        case .trustedProxyMalformed(let text): self = .other(UsageError.badTrustedProxy(text).message)
        case .networkMalformed(let text):
            self = .other(UsageError.badNetwork(text, option: ServeOption.neverBan.rawValue).message)
        case .accessLogNotUsable(.file(let path), let error):
            self = .accessLogNotWritable(path, reason: error.description)
        case .auditLogNotUsable(.file(let path), let error):
            self = .auditLogNotWritable(path, reason: error.description)
        case .auditLogNotUsable(.syslog, let error):
            self = .auditLogNotWritable("syslog", reason: error.description)
        case .auditLogNotUsable(.journal, let error):
            self = .auditLogNotWritable("journald", reason: error.description)
        case .eventsNotUsable(let reason): self = .other(reason)
        case .portMappingNotSafe: self = .portMappingNotSafe
        case .databaseNotUsable(let reason): self = .other("the database cannot be used: \(reason)")
        case .programNotUsable(let path, let error):
            self = .other("cannot execute \(path): \(error.description)")
        case .accessLogNotUsable(.standardError, let error):
            self = .standardErrorNotWritable(reason: error.description)
        case .accountNotUsable(let name, .duplicate): self = .accountGivenTwice(name: name)
        case .accountNotUsable(let name, let problem): self = .badUser(name: name, problem: problem.text)
        case .authenticationNotUsable(let problem): self = .badAuthentication(problem: problem.text)
        case .noAccounts: self = .other("the new list of accounts is empty")
        case .accountDatabaseNotUsable(let reason): self = .other(reason)
        case .signInProviderNotUsable(let reason):
            self = .other("users cannot sign in at a provider: \(reason)")
        case .accessInTwoPlaces(let state): self = .rulesInTwoPlaces(state)
        case .accountsWithoutRules(let share, let accounts):
            self = .accountsWithoutRules(share: share, accounts: accounts)
        case .accountsInTwoPlaces: self = .accountsInTwoPlaces
        case .accountsNeeded(let host): self = .openToEverybody(host: host)
        case .adminListenerNotLocal(let host): self = .other(UsageError.badAdminListener(host).message)
        case .certificateNotUsable(let path, let reason):
            self = .certificateNotUsable(path, reason: reason)
        case .noTLS: self = .other("this build does not include TLS")
        case .temporaryFolderNotUsable(let path, let error): self = .other("\(path): \(error.description)")
        case .cannotListen(let error): self.init(error)
        }
    }

    /// Adds the option that names the file of a certificate or key.
    func naming(_ tls: TLSOptions) -> CommandFailure {
        guard case .certificateNotUsable(let path?, let reason, nil) = self else { return self }
        let option: ServeOption? =
            tls.certificates.contains(path)
            ? .tlsCert
            : tls.keys.contains(path) ? .tlsKey : tls.clientAuthorities == path ? .tlsClientCA : nil
        return .certificateNotUsable(path, reason: reason, option: option?.rawValue)
    }

    private init(_ error: TransportError) {
        if error.host.contains("/") {
            if error.reason == .notASocket {
                self = .notASocket(error.host)
                return
            }
            self = error.reason == .inUse ? .socketInUse(error.host) : .socketNotUsable(error.description)
            return
        }
        switch error.reason {
        case .inUse: self = .portInUse(host: error.host, port: error.port)
        case .notPermitted: self = .portNeedsPrivileges(port: error.port)
        case .notAvailable: self = .addressNotAvailable(host: error.host)
        case .unknownHost, .lookUpFailed: self = .unknownHost(error.host)
        case .notASocket, .noEndpoint, .alreadyStarted, .notRunning, .notListening, .system:
            self = .other(error.description)
        }
    }
}

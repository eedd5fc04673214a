internal import DavitFileStore
internal import DavitQRCode
internal import DavitServer
internal import DavitSystem
internal import DavitTransport

/// `davit serve`: a server from its options to its end.
struct ServeCommand {
    let options: ServeOptions

    /// Serves until a signal stops it. Blocks.
    func run() throws(Failure) {
        let configuration = try configuration()
        do throws(ServerError) {
            FileFaults.arm(.start)
            let server = try WebServer(share, configuration: configuration)
            stopWithTerminal(server)
            server.onReload { [weak server] in
                if let server { replaceAccounts(of: server) }
            }
            let addresses = try server.start()
            // Whoever reads the line may know Internet addresses only: those come first.
            let places = addresses.filter { $0.path == nil } + addresses.filter { $0.path != nil }
            let urls = places.map {
                ServerURL.below($0.url(scheme: configuration.scheme), prefix: configuration.prefix)
            }.joined(separator: " and ")
            if let authority = server.certificateAuthority {
                StandardStreams.writeError(
                    "davit: this server's certificate is signed by \(authority.path)\n"
                        + "       SHA-256 \(authority.fingerprint)\n")
            }
            if options.printsQRCode { Self.draw(server.url) }
            // Before anybody can know that the server is there: the crash tests count from here.
            FileFaults.arm(.ready)
            StandardStreams.writeOutput("davit is ready at \(urls)\n")
            ServiceManager.ready()
            ProcessMemory.returnCode()
            server.waitUntilStopped()
        } catch {
            throw Failure(error, folder: options.folder)
        }
    }

    /// On standard error, because the other holds one line only. An address too long for a code is only written.
    private static func draw(_ url: String?) {
        guard let url else { return }
        let code = QRCode(encoding: url)?.terminalText(isColored: StandardStreams.errorHasTerminal) ?? ""
        StandardStreams.writeError("\(code)\(url)\n")
    }

    /// SIGHUP means two things: from somebody who administers a server, to read its settings again, and from a terminal
    /// that goes away, that nobody is there any more.
    private func stopWithTerminal(_ server: WebServer) {
        guard StandardStreams.hasTerminal else { return }
        server.onReload { [weak server] in
            if !StandardStreams.hasTerminal { server?.shutdown() }
        }
    }

    /// Those that are in use stay where the new ones cannot be used.
    private func replaceAccounts(of server: WebServer) {
        guard options.userFile != nil else { return }
        do throws(Failure) {
            let accounts = try accounts()
            do throws(ServerError) { try server.replaceAccounts(accounts) } catch {
                throw Failure(error, folder: options.folder)
            }
        } catch {
            StandardStreams.writeError(ErrorText.of(error))
        }
    }

    private var share: WebDAVShare {
        var share = WebDAVShare(
            options.folder, stateFolder: options.stateFolder, isReadOnly: options.isReadOnly,
            sync: options.sync)
        share.maximumFileBytes = options.maximumFileBytes
        share.maximumDepth = options.maximumDepth
        share.keptFreeBytes = options.keptFreeBytes
        share.trash = options.trash
        share.uploadExpiry = .seconds(options.uploadSeconds)
        share.rules = options.rules
        share.page = options.page
        share.answersSyncCollection = options.answersSyncCollection
        return share
    }

    private func configuration() throws(Failure) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = options.hosts
        configuration.port = options.port
        configuration.unixSocket = options.unixSocket.map { path in
            options.unixSocketMode.map { .init(path: path, mode: $0) } ?? .init(path: path)
        }
        configuration.inheritedSockets = ServiceManager.inheritedSockets()
        if !configuration.inheritedSockets.isEmpty, options.listensByDefault { configuration.hosts = [] }
        configuration.notifiesServiceManager = true
        configuration.proxies = options.proxies
        configuration.accessLog = options.accessLog.map { path in
            .init(path == "-" ? .standardError : .file(path), format: options.accessLogFormat ?? .combined)
        }
        configuration.accounts = try accounts()
        configuration.compresses = options.compresses
        configuration.authentication = options.authentication
        if !options.allowedOrigins.isEmpty {
            configuration.cors = CORS(origins: options.allowedOrigins.map(\.text))
        }
        configuration.publicURLs = options.publicURLs.map(\.text)
        configuration.prefix = options.prefix.text
        configuration.logLevel = level
        configuration.grace = .seconds(options.graceSeconds)
        configuration.recordingFolder = options.recordingFolder
        configuration.stopsOnSignals = true
        configuration.reloadsOnHangUp = true
        configuration.tls = options.tls.configuration
        return configuration
    }

    private var level: Log.Level {
        switch options.logLevel {
        case .error: .error
        case .warning: .warning
        case .info: .info
        case .access: .access
        case .verbose: .verbose
        case .debug: .debug
        }
    }

    /// The accounts of the command line and of the file, which is read again each time.
    func accounts() throws(Failure) -> [Configuration.Account] {
        var accounts = options.users.map { Configuration.Account(name: $0.name, password: $0.password) }
        if let path = options.userFile {
            let file: SmallFile
            do throws(SystemError) { file = try SmallFile(reading: path) } catch {
                throw .userFileUnreadable(path, reason: error.description)
            }
            guard UserFile.isPrivate(mode: file.mode) else { throw .userFileNotPrivate(path) }
            accounts += try UserFile.parse(file.bytes, path: path)
        }
        return accounts
    }
}

extension Failure {
    /// What a server's refusal means for the person at the command line.
    /// - Parameter folder: the shared one, as it was given.
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
        case .mountNotUsable(let reason): self = .other(reason)
        case .serverNameMalformed(let name): self = .other("'\(name)' is not the name of a server")
        case .publicURLMalformed(let url): self = .other("'\(url)' is not a URL of a server")
        case .prefixMalformed(let prefix): self = .other(UsageError.badPrefix(prefix).message)
        case .publicURLOutsidePrefix(let url): self = .other(UsageError.publicURLOutsidePrefix(url).message)
        case .trustedProxyMalformed(let text): self = .other(UsageError.badTrustedProxy(text).message)
        case .accessLogNotUsable(.file(let path), let error):
            self = .accessLogNotWritable(path, reason: error.description)
        case .accessLogNotUsable(.standardError, let error):
            self = .accessLogNotWritable("standard error", reason: error.description)
        case .accountNotUsable(let name, let problem): self = .badUser(name: name, problem: problem.text)
        case .authenticationNotUsable(let problem): self = .badAuthentication(problem: problem.text)
        case .noAccounts: self = .other("there are no accounts")
        case .accountsNeeded(let host):
            self = .other("without users, only this machine is served; \(host) is open to others")
        case .certificateNotUsable(let path, let reason): self = .certificateNotUsable(path, reason: reason)
        case .noTLS: self = .other("this davit was built without TLS")
        case .temporaryFolderNotUsable(let path, let error): self = .other("\(path): \(error.description)")
        case .cannotListen(let error): self.init(error)
        }
    }

    private init(_ error: TransportError) {
        if error.host.contains("/") {
            self = error.reason == .inUse ? .socketInUse(error.host) : .socketNotUsable(error.description)
            return
        }
        switch error.reason {
        case .inUse: self = .portInUse(host: error.host, port: error.port)
        case .notPermitted: self = .portNeedsPrivileges(port: error.port)
        case .notAvailable: self = .addressNotAvailable(host: error.host)
        case .unknownHost, .lookUpFailed: self = .unknownHost(error.host)
        case .noEndpoint, .alreadyStarted, .notRunning, .notListening, .system:
            self = .other(error.description)
        }
    }
}

extension Accounts.Problem {
    /// In words for the person who chose the account.
    var text: String {
        switch self {
        case .badName: "a name has at least one character, and no colon"
        case .emptyPassword: "the password is empty"
        case .tooLong: "names and passwords have \(Accounts.limitBytes) bytes at most"
        case .controlCharacter: "it has a control character"
        case .duplicate: "there are two accounts of this name"
        case .badHash: "it is a hash of no kind that is known here"
        case .otherRealm: "its Digest secrets are for another realm"
        case .badRealm:
            "a realm has 1 to 128 bytes, and no quotes, backslashes or control characters"
        case .noScheme: "there is no scheme that every account can use"
        case .needsOpenSSL: "this davit is built without OpenSSL: it has no Digest and no hashed passwords"
        case .failed: "OpenSSL refuses it"
        }
    }
}

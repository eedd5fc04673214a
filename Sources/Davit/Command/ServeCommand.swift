internal import DavitFileStore
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
            let addresses = try server.start()
            let places = addresses.map { "\(configuration.scheme)://\($0.authority)/" }.joined(
                separator: " and ")
            if let authority = server.certificateAuthority {
                StandardStreams.writeError(
                    "davit: this server's certificate is signed by \(authority.path)\n"
                        + "       SHA-256 \(authority.fingerprint)\n")
            }
            // Before anybody can know that the server is there: the crash tests count from here.
            FileFaults.arm(.ready)
            StandardStreams.writeOutput("davit is ready at \(places)\n")
            ProcessMemory.returnCode()
            server.waitUntilStopped()
        } catch {
            throw Failure(error, folder: options.folder)
        }
    }

    /// SIGHUP means two things: from somebody who administers a server, to read its settings again, and from a terminal
    /// that goes away, that nobody is there any more.
    private func stopWithTerminal(_ server: WebServer) {
        guard StandardStreams.hasTerminal else { return }
        server.onReload { [weak server] in
            if !StandardStreams.hasTerminal { server?.shutdown() }
        }
    }

    private var share: WebDAVShare {
        WebDAVShare(
            options.folder, stateFolder: options.stateFolder, isReadOnly: options.isReadOnly,
            sync: options.sync)
    }

    private func configuration() throws(Failure) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = options.hosts
        configuration.port = options.port
        configuration.accounts = try accounts()
        configuration.publicURLs = options.publicURLs.map(\.text)
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
        case .debug: .debug
        }
    }

    private func accounts() throws(Failure) -> [Configuration.Account] {
        var users = options.users
        if let path = options.userFile {
            let file: SmallFile
            do throws(SystemError) { file = try SmallFile(reading: path) } catch {
                throw .userFileUnreadable(path, reason: error.description)
            }
            guard UserFile.isPrivate(mode: file.mode) else { throw .userFileNotPrivate(path) }
            users += try UserFile.parse(file.bytes, path: path)
        }
        return users.map { Configuration.Account(name: $0.name, password: $0.password) }
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
        case .publicURLMalformed(let url): self = .other("'\(url)' is not a URL of a whole server")
        case .accountNotUsable(let name, let problem): self = .badUser(name: name, problem: problem.text)
        case .accountsNeeded(let host):
            self = .other("without users, only this machine is served; \(host) is open to others")
        case .certificateNotUsable(let path, let reason): self = .certificateNotUsable(path, reason: reason)
        case .noTLS: self = .other("this davit was built without TLS")
        case .cannotListen(let error): self.init(error)
        }
    }

    private init(_ error: TransportError) {
        switch error.reason {
        case .inUse: self = .portInUse(host: error.host, port: error.port)
        case .notPermitted: self = .portNeedsPrivileges(port: error.port)
        case .notAvailable: self = .addressNotAvailable(host: error.host)
        case .unknownHost, .lookUpFailed: self = .unknownHost(error.host)
        case .noEndpoint, .alreadyStarted, .system: self = .other(error.description)
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
        }
    }
}

internal import Davit
internal import DavitControl
internal import DavitFileStore
package import DavitRecording
internal import DavitSystem

/// The arguments of `davit doctor`.
package struct DoctorOptions: Hashable, Sendable {
    /// Where the options of the server come from.
    package enum Source: Hashable, Sendable {
        case options(ServeOptions)
        case file(ServeSources)
    }

    package var source: Source
    /// The address that clients use, to send requests to; nil to send none.
    package var server: ServerAddress?
    /// The account to sign in with at ``server``.
    package var user: ServeOptions.User?
    package var printsJSON = false

    package init(source: Source) { self.source = source }
}

extension Arguments {
    /// Parses the arguments of `davit serve`, and in addition `--url`, `--sign-in`, `--ca` and `--json`.
    mutating func doctor() throws(UsageError) -> Invocation {
        var (server, authorities, printsJSON) = (ServerAddress?.none, String?.none, false)
        var user: ServeOptions.User?
        var others: [String] = []
        while let word = words.popFirst() {
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case "--json": printsJSON = true
            case "--ca": authorities = try value(of: name, behindSign: behindSign)
            case "--sign-in": user = try Self.user(try value(of: name, behindSign: behindSign))
            case "--url":
                let value = try value(of: name, behindSign: behindSign)
                guard let address = ServerAddress(parsing: value) else { throw .badServer(value) }
                server = address
            default: others.append(word)
            }
        }
        if user != nil, server == nil { throw .useless(option: "--sign-in", without: "--url") }
        if authorities != nil, server == nil { throw .useless(option: "--ca", without: "--url") }
        words = others[...]
        var options: DoctorOptions
        switch try serve() {
        case .serve(let serve): options = DoctorOptions(source: .options(serve))
        case .serveFile(let sources): options = DoctorOptions(source: .file(sources))
        default: return .help(.doctor)
        }
        server?.authorities = authorities
        options.server = server
        options.user = user
        options.printsJSON = printsJSON
        return .doctor(options)
    }
}

/// `davit doctor`: examines everything that a server needs, and prints what to do about problems.
package struct DoctorCommand {
    /// The checks, in the order of the output. Those before the change to the user of `--run-as` come first.
    static var beforeRunAs: [any DoctorCheck.Type] {
        [AddressCheck.self, HostNameCheck.self, ClockCheck.self, LimitCheck.self, SandboxCheck.self]
    }
    static var afterRunAs: [any DoctorCheck.Type] {
        [
            FolderCheck.self, VolumeCheck.self, StateCheck.self, ServerCheck.self, CertificateCheck.self,
            ProxyCheck.self, PublicAddressCheck.self,
        ]
    }

    package let options: DoctorOptions

    package init(options: DoctorOptions) { self.options = options }

    /// Prints the report. Blocks.
    /// - Throws: ``CommandFailure/doctorFoundProblems(count:)``.
    func run() throws(CommandFailure) {
        Signals.ignoreBrokenPipes()
        let report = report()
        StandardStreams.writeOutput(options.printsJSON ? report.json : report.text)
        let count = report.count(.problem)
        if count > 0 { throw .doctorFoundProblems(count: count) }
    }

    /// Runs all checks; with an invalid configuration, only those that do not depend on it. Blocks, and changes to the user of
    /// `--run-as` if the process may.
    package func report() -> DoctorReport {
        var sections: [DoctorReport.Section] = []
        let command: ServeCommand
        do throws(CommandFailure) {
            switch options.source {
            case .options(let options): command = ServeCommand(options: options)
            case .file(let sources): command = try ServeCommand(sources: sources)
            }
        } catch {
            sections.append(.init(check: "configuration", findings: [.problem(error)]))
            let context = DoctorContext(
                options: ServeOptions(folder: ""), files: [], server: nil, user: nil, states: [],
                isServerUser: true)
            for check in [ClockCheck.self, LimitCheck.self] as [any DoctorCheck.Type] {
                sections.append(.init(check: check.name, findings: check.findings(context)))
            }
            return DoctorReport(sections: sections)
        }
        // Certificates and rules are read like the server does, as its user.
        let serve = command.options
        let starting = context(command)
        for check in Self.beforeRunAs {
            sections.append(.init(check: check.name, findings: check.findings(starting)))
        }
        var configuration = configurationFindings(command)
        if let user = serve.runAs {
            do throws(CommandFailure) { try command.becomeServerUser() } catch {
                configuration.append(.problem(error))
            }
            configuration.append(
                .ok("checking as user \(ProcessPrivileges.userName) (--run-as \(user.user))"))
        }
        let serving = context(command)
        sections.insert(.init(check: "configuration", findings: configuration), at: 0)
        for check in Self.afterRunAs {
            sections.append(.init(check: check.name, findings: check.findings(serving)))
        }
        return DoctorReport(sections: sections.filter { !$0.findings.isEmpty })
    }

    private func configurationFindings(_ command: ServeCommand) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        do throws(CommandFailure) {
            let isRequired = try command.requiresAuthentication()
            let source = if case .file(let sources) = options.source { sources.file } else { String?.none }
            findings.append(.ok(source.map { "\($0) is valid" } ?? "the options are valid"))
            for problem in command.unknownUsers() {
                findings.append(.warning(problem.message, "Add the account, or remove the rule."))
            }
            if !isRequired {
                findings.append(.ok("clients need not sign in; only this machine can reach the server"))
            }
        } catch {
            findings.append(.problem(error))
        }
        for warning in command.options.warnings {
            findings.append(.warning(warning, "Correct it, or omit it."))
        }
        return findings
    }

    private func context(_ command: ServeCommand) -> DoctorContext {
        let serve = command.options
        let states = serve.eachShare.compactMap { DoctorState($0) }
        var server = options.server
        if server?.authorities == nil, serve.tls.isSelfSigned, let state = states.first {
            let path = CertificateCheck.authorityPath(in: state.path)
            if (try? ExclusiveFolder.hasEntry(at: path)) == true { server?.authorities = path }
        }
        return DoctorContext(
            options: serve, files: command.files, server: server,
            user: options.user ?? serve.users.first { !$0.isHash }, states: states,
            isServerUser: !ProcessPrivileges.isRoot || serve.runAs != nil)
    }
}

extension DoctorState {
    /// Finds the state folder of a share, and asks its server. Blocks.
    init?(_ options: ServeOptions) {
        guard
            let access = try? StateAccess(
                folder: options.folder, stateFolder: options.stateFolder, isCreated: true)
        else { return nil }
        let status = try? StatusCommand(options: StatusOptions(folder: nil, stateFolder: access.path)).lines()
        var process: Int32?
        if status != nil, let lock = try? SmallFile(reading: access.path + "/lock", limitBytes: 64) {
            process = Int32(String(decoding: lock.bytes.prefix { $0 != 10 }, as: UTF8.self))
        }
        self.init(
            options: options, share: access.resources.rootPath, path: access.path, status: status,
            process: process)
    }
}

extension DoctorState {
    /// Whether the state folder of a share contains a database of accounts. Blocks.
    static func hasAccounts(_ options: ServeOptions) -> Bool {
        let access = try? StateAccess(
            folder: options.folder, stateFolder: options.stateFolder, isCreated: true)
        return access?.hasAccounts ?? false
    }
}

internal import Davit
internal import DavitSystem

/// The `davit` command.
package enum Command {
    /// Runs the command with `arguments`. Blocks until it has finished.
    ///
    /// - Parameter arguments: the arguments, without the program name.
    /// - Returns: the exit status: 0, 1 for a failure, 2 for a check of a database that could not be completed, or 64 for an
    ///   invalid command line.
    package static func run(_ arguments: [String]) -> Int32 {
        do throws(UsageError) {
            switch try Arguments.parse(arguments, environment: Environment.variables(startingWith: "DAVIT_"))
            {
            case .help(let help): StandardStreams.writeOutput(help.text)
            case .version: StandardStreams.writeOutput("davit \(DavitVersion.text)\n")
            case .serve(let options):
                return report { () throws(CommandFailure) in try ServeCommand(options: options).run() }
            case .serveFile(let sources):
                return report { () throws(CommandFailure) in try ServeCommand(sources: sources).run() }
            case .config(let options):
                return report { () throws(CommandFailure) in try ConfigCommand(options: options).run() }
            case .reload(let options):
                return report { () throws(CommandFailure) in try ReloadCommand(options: options).run() }
            case .check(let options):
                return report { () throws(CommandFailure) in try CheckCommand(options: options).run() }
            case .transfer(let options):
                return report { () throws(CommandFailure) in try TransferCommand(options: options).run() }
            case .nodes(let options):
                return report { () throws(CommandFailure) in try NodesCommand(options: options).run() }
            case .setup(let options):
                return report { () throws(CommandFailure) in try SetupCommand(options: options).run() }
            case .doctor(let options):
                return report { () throws(CommandFailure) in try DoctorCommand(options: options).run() }
            case .status(let options):
                return report { () throws(CommandFailure) in try StatusCommand(options: options).run() }
            case .locks(let options):
                return report { () throws(CommandFailure) in try LocksCommand(options: options).run() }
            case .uploads(let options):
                return report { () throws(CommandFailure) in try UploadsCommand(options: options).run() }
            case .trash(let options):
                return report { () throws(CommandFailure) in try TrashCommand(options: options).run() }
            case .ban(let options):
                return report { () throws(CommandFailure) in try BanCommand(options: options).run() }
            case .log(let options):
                return report { () throws(CommandFailure) in try LogCommand(options: options).run() }
            case .password(let options):
                return report { () throws(CommandFailure) in try PasswordCommand(options: options).run() }
            case .account(let options):
                return report { () throws(CommandFailure) in try AccountCommand(options: options).run() }
            case .replay(let options):
                return report { () throws(CommandFailure) in try ReplayCommand(options: options).run() }
            case .stub(let options):
                return report { () throws(CommandFailure) in try StubCommand(options: options).run() }
            case .stubControl(let options):
                return report { () throws(CommandFailure) in try StubControlCommand(options: options).run() }
            }
            return ExitStatus.success
        } catch {
            let command = arguments.first.flatMap { Subcommand(rawValue: $0) }
            StandardStreams.writeError(ErrorText.of(error, in: command ?? .serve, words: arguments))
            return ExitStatus.usage
        }
    }

    private static func report(_ work: () throws(CommandFailure) -> Void) -> Int32 {
        do throws(CommandFailure) {
            try work()
            return ExitStatus.success
        } catch {
            StandardStreams.writeError(ErrorText.of(error))
            return error.exitStatus
        }
    }
}

/// The commands of `davit`.
package enum Subcommand: String, CaseIterable, Sendable {
    case serve, setup, config, reload, account
    case appPassword = "app-password"
    case group, access, doctor, check
    case importing = "import"
    case exporting = "export"
    case nodes
    case status, locks, uploads, trash, ban, log, password, replay, stub

    package var help: Help {
        switch self {
        case .serve: .serve
        case .setup: .setup
        case .config: .config
        case .reload: .reload
        case .account: .account
        case .appPassword: .appPassword
        case .group: .group
        case .access: .access
        case .doctor: .doctor
        case .check: .check
        case .importing: .importing
        case .exporting: .exporting
        case .nodes: .nodes
        case .status: .status
        case .locks: .locks
        case .uploads: .uploads
        case .trash: .trash
        case .ban: .ban
        case .log: .log
        case .password: .password
        case .replay: .replay
        case .stub: .stub
        }
    }
}

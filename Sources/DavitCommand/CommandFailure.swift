/// The reason why a command failed.
package enum CommandFailure: Error, Hashable, Sendable {
    case folderMissing(String)
    case notAFolder(String)
    case folderNotReadable(String)
    case portInUse(host: String, port: UInt16)
    case portNeedsPrivileges(port: UInt16)
    case addressNotAvailable(host: String)
    case unknownHost(String)
    /// Another process listens on the socket.
    case socketInUse(String)
    /// The file at the path of a Unix socket is not a socket.
    case notASocket(String)
    /// The Unix socket cannot be created; the reason includes the path.
    case socketNotUsable(String)
    case accessLogNotWritable(String, reason: String)
    case auditLogNotWritable(String, reason: String)
    case auditLogNotReadable(String, reason: String)
    /// The records are in syslog or in the journal.
    case auditLogNotInFile(String)
    case noAuditLog
    /// The file contains no record of an audit log.
    case notAnAuditLog(String)
    /// The access log or the audit log is inside a shared folder.
    case logInShare(option: String, String, share: String)
    case portMappingNotSafe
    /// The access log cannot be written to standard error.
    case standardErrorNotWritable(reason: String)
    case stateFolderNotWritable(String, reason: String)
    case stateFolderInShare(state: String, share: String)
    /// Another server uses the state folder; `process` is 0 if its ID is unknown.
    case stateFolderHeld(String, process: Int32)
    case stateFromNewerVersion(String)
    case stateUnreadable(String, reason: String)
    /// A check found errors.
    case stateDamaged(String)
    /// A check of a database has printed findings.
    case databaseDamaged(count: Int)
    /// A check of a database could not be completed.
    case checkNotCompleted(reason: String)
    /// No server uses the state folder, or it has no socket.
    case noServer(String)
    /// The server runs, but some checks of its health failed, which have already been printed.
    case notReady(failedChecks: Int)
    /// The state folder has no state.
    /// `davit setup` got an answer that cannot be used.
    case setupAnswer(question: String, problem: String)
    /// `davit setup` may not replace a file.
    case setupFileExists(String)
    /// `davit doctor` has printed problems.
    case doctorFoundProblems(count: Int)
    case noState(String, share: String)
    /// There is no lock with this token or path.
    case noLock(String, folder: String)
    /// There is no upload with this ID.
    case noUpload(String, folder: String)
    /// A request to the server that uses the state folder failed; `process` is 0 if the server's process ID is
    /// unknown.
    case serverSilent(String, process: Int32, reason: String)
    /// Neither HOME nor XDG_STATE_HOME is an absolute path.
    case noStateFolder
    case userFileUnreadable(String, reason: String)
    /// Users other than the owner can read or change the user file.
    case userFileNotPrivate(String)
    /// A file with a password that davit needs for another service.
    case secretFileUnreadable(String, reason: String)
    case secretFileNotPrivate(String)
    case userFileLine(String, line: Int, problem: String)
    case userFileEmpty(String)
    case badUser(name: String, problem: String)
    /// Two accounts of the options, the user file or the configuration file have this name.
    case accountGivenTwice(name: String)
    case recordingFolderNotWritable(String, reason: String)
    case recordingFolderNotEmpty(String)
    case faultFileUnreadable(String, reason: String)
    case recordingFolderInShare(String, share: String)
    /// A recording or transcript cannot be read.
    case recordingUnreadable(String, reason: String)
    /// The folder does not contain a recording.
    case noRecording(String)
    /// The server cannot be reached, or it refused to create what the replay needs.
    case cannotReplay(reason: String)
    /// A replay found differences, which have already been printed.
    case replayDiffers(count: Int)
    /// A certificate, a key or a list of authorities cannot be used; the path is nil if the problem does not
    /// concern a file.
    case certificateNotUsable(String?, reason: String, option: String? = nil)
    /// A program of an option cannot be executed.
    case programNotUsable(String, reason: String, option: String)
    case badAuthentication(problem: String)
    /// The host is reachable from other machines, and there are no accounts.
    case openToEverybody(host: String)
    /// Accounts were given although the state folder has an account database.
    case accountsInTwoPlaces
    /// The configuration file has rules for a share with an account database, in this state folder.
    case rulesInTwoPlaces(String)
    /// A share without rules next to one with an account database, in the state folder `accounts`.
    case accountsWithoutRules(share: String, accounts: String)
    /// A change was interrupted in a folder that is not in its place now; `record` describes the former folders.
    case foldersChanged(String, reason: String, record: String)
    /// Home folders, but no account database.
    case homesWithoutAccounts(share: String)
    /// `davit password` did not get a usable password.
    case noPassword(reason: String)
    /// `--run-as` with a name that is not in the user database.
    case unknownUser(String)
    /// `--run-as` with a name that is not in the group database.
    case unknownGroup(String)
    /// `--run-as` by a user other than root.
    case runAsNeedsRoot(String)
    case cannotRunAs(String, reason: String)
    /// The user of `--run-as` cannot read the configuration file or one of its password files.
    case cannotReload(String, user: String, reason: String)
    case cannotEnterSandbox(reason: String)
    case other(String)
    /// Mistakes in a configuration file, one per line.
    case configuration([String])
    /// The build does not include YAML.
    case noYAML
    /// The running server could not use its settings; the reasons, one per line.
    case notReloaded([String])

    /// The message, without the prefix `davit: `.
    package var message: String {
        switch self {
        case .folderMissing(let path): "folder \(path) does not exist"
        case .notAFolder(let path): "\(path) is not a folder"
        case .folderNotReadable(let path): "cannot read folder \(path)"
        case .portInUse(let host, let port): "port \(port) is in use on \(host)"
        case .portNeedsPrivileges(let port): "port \(port) requires elevated privileges"
        case .addressNotAvailable(let host): "\(host) is not an address of this machine"
        case .unknownHost(let host): "cannot resolve host \(host)"
        case .socketInUse(let path): "\(path) is in use"
        case .notASocket(let path): "\(path) exists and is not a socket"
        case .socketNotUsable(let reason): "cannot create socket: \(reason)"
        case .accessLogNotWritable(let path, let reason):
            "cannot write access log \(path): \(reason)"
        case .auditLogNotWritable(let path, let reason): "cannot write audit log \(path): \(reason)"
        case .auditLogNotReadable(let path, let reason): "cannot read audit log \(path): \(reason)"
        case .auditLogNotInFile(let service): "the audit log is sent to \(service)"
        case .notAnAuditLog(let path): "\(path) is not an audit log"
        case .noAuditLog: "no audit log is named"
        case .logInShare(let option, let path, let share):
            "\(option): \(path) is inside the shared folder \(share)"
        case .portMappingNotSafe: "--map-port requires TLS and accounts"
        case .standardErrorNotWritable(let reason):
            "cannot write the access log to standard error: \(reason)"
        case .stateFolderNotWritable(let path, let reason):
            "cannot write to state folder \(path): \(reason)"
        case .stateFolderInShare(let state, let share):
            "state folder \(state) is inside the shared folder \(share)"
        case .stateFolderHeld(let path, 0): "state folder \(path) is in use by another davit"
        case .stateFolderHeld(let path, let process):
            "state folder \(path) is in use by another davit (pid \(process))"
        case .stateFromNewerVersion(let path): "state in \(path) was written by a newer version of davit"
        case .stateUnreadable(let path, let reason): "cannot use the state in \(path): \(reason)"
        case .stateDamaged(let path): "state in \(path) is damaged"
        case .databaseDamaged(1): "1 problem found"
        case .databaseDamaged(let count): "\(count) problems found"
        case .checkNotCompleted(let reason): reason
        case .noServer(let path): "no server uses state folder \(path)"
        case .notReady(1): "the server is not ready: 1 check failed"
        case .notReady(let count): "the server is not ready: \(count) checks failed"
        case .setupAnswer(let question, let problem): "\(question): \(problem)"
        case .setupFileExists(let path): "\(path) exists; nothing was changed"
        case .doctorFoundProblems(1): "1 problem found"
        case .doctorFoundProblems(let count): "\(count) problems found"
        case .noState(let path, let share): "no state for \(share) in \(path)"
        case .noLock(let name, _): "no lock with path or token \(name)"
        case .noUpload(let id, _): "no upload with the ID \(id)"
        case .serverSilent(let path, 0, let reason):
            "request to the server that uses state folder \(path) failed: \(reason)"
        case .serverSilent(let path, let process, let reason):
            "request to the server that uses state folder \(path) (pid \(process)) failed: \(reason)"
        case .noStateFolder: "no state folder: neither XDG_STATE_HOME nor HOME is set"
        case .userFileUnreadable(let path, let reason): "cannot read user file \(path): \(reason)"
        case .secretFileUnreadable(let path, let reason): "cannot read password file \(path): \(reason)"
        case .secretFileNotPrivate(let path):
            "password file \(path) is accessible to other users (expected mode 0600)"
        case .userFileNotPrivate(let path):
            "user file \(path) is accessible to other users (expected mode 0600)"
        case .userFileLine(let path, let line, let problem): "line \(line) of \(path): \(problem)"
        case .userFileEmpty(let path): "user file \(path) has no accounts"
        case .accountGivenTwice(let name): "account '\(name)' is given twice"
        case .badUser(let name, let problem): "invalid account '\(name)': \(problem)"
        case .recordingFolderNotWritable(let path, let reason):
            "cannot record in \(path): \(reason)"
        case .recordingFolderNotEmpty(let path): "recording folder \(path) is not empty"
        case .faultFileUnreadable(let path, let reason): "cannot use the fault rules in \(path): \(reason)"
        case .recordingFolderInShare(let path, let share):
            "recording folder \(path) is inside the shared folder \(share)"
        case .recordingUnreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .noRecording(let path): "no recording in \(path)"
        case .cannotReplay(let reason): "cannot replay: \(reason)"
        case .replayDiffers(1): "1 unexpected difference"
        case .replayDiffers(let count): "\(count) unexpected differences"
        case .certificateNotUsable(let path, let reason, let option):
            (option.map { "\($0): " } ?? "") + (path.map { "\($0): " } ?? "") + reason
        case .programNotUsable(let path, let reason, let option):
            "\(option): cannot execute \(path): \(reason)"
        case .badAuthentication(let problem): "invalid authentication settings: \(problem)"
        case .openToEverybody(let host):
            "without accounts, anyone who can reach \(host) could access the folder"
        case .accountsInTwoPlaces:
            "--user and --user-file cannot be used with the account database of this folder"
        case .rulesInTwoPlaces(let state):
            "the rules of the account database in \(state) would not apply, because the file has 'rules'"
        case .accountsWithoutRules(let share, let accounts):
            "\(share) has no rules: the accounts in \(accounts) could change everything in it"
        case .foldersChanged(let path, let reason, _):
            "cannot complete an interrupted change of \(path): \(reason)"
        case .homesWithoutAccounts: "home folders require an account database"
        case .noPassword(let reason): "no usable password: \(reason)"
        case .unknownUser(let name): "--run-as: unknown user '\(name)'"
        case .unknownGroup(let name): "--run-as: unknown group '\(name)'"
        case .runAsNeedsRoot(let name): "--run-as \(name) requires root"
        case .cannotRunAs(let name, let reason): "cannot run as \(name): \(reason)"
        case .cannotReload(let path, let user, let reason): "cannot read \(path) as user \(user): \(reason)"
        case .cannotEnterSandbox(let reason): "cannot restrict the process (--sandbox): \(reason)"
        case .other(let reason): reason
        case .configuration(let lines): lines.joined(separator: "\ndavit: ")
        case .noYAML: "configuration files require YAML, which this build does not include"
        case .notReloaded(let lines):
            (["the server keeps its current settings"] + lines).joined(separator: "\ndavit: ")
        }
    }

    /// The exit status of the command.
    var exitStatus: Int32 {
        if case .checkNotCompleted = self { return ExitStatus.notCompleted }
        return ExitStatus.failure
    }

    /// The suggestion that follows the message, or nil.
    package var advice: String? {
        switch self {
        case .folderMissing(let path): "Create it (mkdir -p '\(path)'), or check the name."
        case .notAFolder: "davit shares folders. Specify the folder that contains this file."
        case .folderNotReadable: "Run davit as a user who can read it, or change the permissions."
        case .portInUse: "Stop the other server, or choose another port: --port 8081, or --port 0."
        case .portNeedsPrivileges: "Choose a port of 1024 or higher: --port 8080"
        case .addressNotAvailable: "List the addresses with 'ip address', or use --host localhost."
        case .unknownHost: "Check the name, or specify an address."
        case .socketInUse: "Stop the other server, or choose another path."
        case .notASocket: "Choose another path. Files other than sockets are never replaced."
        case .socketNotUsable: "Choose a path in a folder that davit can write to, such as /run/davit."
        case .accessLogNotWritable: "Choose a file that davit can write to, or - for standard error."
        case .auditLogNotWritable: "Choose a file in a folder that davit can write to."
        case .auditLogNotReadable:
            "Run the command as the server's user or as root: davit log --audit-log FILE PATH"
        case .logInShare(let option, _, _):
            "Clients could read and change it. Choose a file outside the share: \(option) /var/log/davit/log"
        case .auditLogNotInFile: "Search there for the tag davit-audit."
        case .portMappingNotSafe:
            "Everyone in the Internet could use the server. For example: --tls-self-signed, and accounts with 'davit account add'"
        case .notAnAuditLog: "Name the file of 'davit serve --audit-log FILE'."
        case .noAuditLog:
            "Add --audit-log FILE, or --config FILE with the configuration of the server if it has an audit log."
        case .standardErrorNotWritable: "Choose a file that davit can write to."
        case .stateFolderNotWritable: "Choose another folder: --state-dir /some/folder"
        case .stateFolderInShare:
            "Clients could read it. Choose a folder outside the share: --state-dir /some/folder"
        case .stateFolderHeld:
            "Stop that server, or choose another state folder for this one: --state-dir /some/folder"
        case .stateFromNewerVersion: "Use that version of davit, or another folder: --state-dir /some/folder"
        case .stateUnreadable:
            "Restore a backup, or move the folder away to start without locks and properties."
        case .stateDamaged:
            "Stop the server and copy the state folder. Then restore a backup, or move the folder away."
        case .noState: "Serve the folder once to create it, or specify its location: --state-dir /some/folder"
        case .noLock(_, let folder): "List the locks: davit locks list '\(folder)'"
        case .noUpload(_, let folder): "List the uploads: davit uploads list '\(folder)'"
        case .serverSilent: "Try again as the server's user, or stop the server first."
        case .openToEverybody:
            "Add --user NAME:PASSWORD, --user-file FILE or accounts (davit account add), or listen on this machine"
                + " only: --host localhost"
        case .accountsInTwoPlaces:
            "Omit them and use 'davit account', or remove accounts.sqlite from the state folder with all its rules."
        case .rulesInTwoPlaces:
            "Omit 'rules' and use 'davit access', or remove accounts.sqlite from the state folder with all its rules."
        case .accountsWithoutRules:
            "Add 'rules' to this share in the configuration file, or serve both folders as one share with 'mounts'."
        case .foldersChanged(_, _, let record):
            "Start once with the former folders and volumes. If they no longer exist, remove \(record): this may discard the change."
        case .homesWithoutAccounts(let share): "Add an account first: davit account add '\(share)' NAME"
        case .noStateFolder: "Choose a folder: --state-dir /some/folder"
        case .userFileUnreadable:
            "The file must contain lines NAME:PASSWORD and be readable by the user that runs davit."
        case .secretFileUnreadable: "The first line of the file is the password."
        case .secretFileNotPrivate(let path): "Restrict the permissions: chmod 600 '\(path)'"
        case .userFileNotPrivate(let path): "Restrict the permissions: chmod 600 '\(path)'"
        case .userFileLine:
            "Each line must be NAME:PASSWORD or output of 'davit password'; empty lines and # comments are ignored."
        case .userFileEmpty: "Add lines NAME:PASSWORD, or lines that 'davit password' prints."
        case .badUser: "Choose another name or password."
        case .accountGivenTwice:
            "Remove one of them from --user, from the user file or from 'users' in the file."
        case .badAuthentication: "See --auth and --realm in 'davit serve --help'."
        case .noServer: "Start it with 'davit serve', or specify its state folder: --state-dir /some/folder"
        case .noPassword, .notReady, .doctorFoundProblems, .checkNotCompleted: nil
        case .databaseDamaged: "See docs/cluster.md for what each line means."
        case .setupAnswer: "See 'davit setup --help'."
        case .setupFileExists: "Choose another file with --config, or replace existing files with --force."
        case .unknownUser: "Create it: useradd --system NAME"
        case .unknownGroup: "Create it, or omit it to use the user's own group."
        case .runAsNeedsRoot: "Start davit as root, or omit --run-as to serve as the current user."
        case .cannotRunAs: "In a container, the process needs the capabilities SETUID and SETGID."
        case .cannotReload(let path, let user, _):
            "A reload reads the file again. Make it readable for the user: chown \(user) '\(path)'"
        case .cannotEnterSandbox: "Omit --sandbox to serve without these restrictions."
        case .recordingFolderNotWritable: "Choose another folder: --record /some/folder"
        case .faultFileUnreadable: "Write each rule as METHOD PATH NAME=VALUE: PUT /** status=423 nth=2"
        case .recordingFolderNotEmpty: "Choose a new or empty folder: --record /some/folder"
        case .recordingFolderInShare:
            "Clients could read it. Choose a folder outside the share: --record /some/folder"
        case .recordingUnreadable, .noRecording:
            "Specify files that 'davit serve --record' has written, or their folder."
        case .cannotReplay:
            "Check that the server is running, and add --user NAME:PASSWORD if it has accounts."
        case .certificateNotUsable:
            "Certificates and keys must be PEM files. See 'davit serve --help' and docs/configuration.md."
        case .programNotUsable(_, _, let option):
            "Check the path, and that davit may execute the program. For a command of the shell, write a script: \(option) /usr/local/bin/script"
        case .noYAML: "Build davit with the package trait YAML."
        case .replayDiffers, .other, .configuration, .notReloaded: nil
        }
    }
}

/// The exit status of the command.
package enum ExitStatus {
    package static let success: Int32 = 0
    package static let failure: Int32 = 1
    /// A check of a database could not be completed; ``failure`` means that it has found something.
    package static let notCompleted: Int32 = 2
    /// `EX_USAGE` in sysexits(3).
    package static let usage: Int32 = 64
}

/// The text for standard error: the message, then the suggestion.
package enum ErrorText {
    /// - Parameters:
    ///   - command: the command that the user entered.
    ///   - words: all words that the user entered, from the command on.
    package static func of(
        _ error: UsageError, in command: Subcommand = .serve, words: [String] = []
    ) -> String {
        text(error.message, error.advice(for: command, words: words))
    }

    package static func of(_ failure: CommandFailure) -> String { text(failure.message, failure.advice) }

    private static func text(_ message: String, _ advice: String?) -> String {
        "davit: \(message)\n" + (advice.map { "       \($0.replacing("\n", with: "\n       "))\n" } ?? "")
    }
}

/// Why a command could not do its work, in words for the person who gave it. The command ends with status 1.
package enum Failure: Error, Hashable, Sendable {
    case folderMissing(String)
    case notAFolder(String)
    case folderNotReadable(String)
    case portInUse(host: String, port: UInt16)
    case portNeedsPrivileges(port: UInt16)
    case addressNotAvailable(host: String)
    case unknownHost(String)
    /// Somebody listens there, or the file is no socket.
    case socketInUse(String)
    /// What is wrong with it, its path included.
    case socketNotUsable(String)
    case accessLogNotWritable(String, reason: String)
    case stateFolderNotWritable(String, reason: String)
    case stateFolderInShare(state: String, share: String)
    /// Another process serves with this state; its number is 0 where it is not known.
    case stateFolderHeld(String, process: Int32)
    case stateFromNewerVersion(String)
    case stateUnreadable(String, reason: String)
    /// A check has found something.
    case stateDamaged(String)
    /// There is nothing to check.
    case noState(String, share: String)
    /// Nothing has such a lock.
    case noLock(String, folder: String)
    /// The process that holds the state folder, 0 where it is not known, gave no answer.
    case serverSilent(String, process: Int32, reason: String)
    /// Neither HOME nor XDG_STATE_HOME says where state belongs.
    case noStateFolder
    case userFileUnreadable(String, reason: String)
    /// Others than its owner may read or change it.
    case userFileNotPrivate(String)
    case userFileLine(String, line: Int, problem: String)
    case userFileEmpty(String)
    case badUser(name: String, problem: String)
    case recordingFolderNotWritable(String, reason: String)
    case recordingFolderNotEmpty(String)
    case recordingFolderInShare(String, share: String)
    /// A recording or a transcript that cannot be read.
    case recordingUnreadable(String, reason: String)
    /// There is none in the folder.
    case noRecording(String)
    /// The server of a replay could not be asked, or did not let the replay make what it needs.
    case cannotReplay(reason: String)
    /// A replay has found something; it is said already.
    case replayDiffers(count: Int)
    /// A certificate, a key, or a list of authorities; no path where it is not from a file.
    case certificateNotUsable(String?, reason: String)
    case badAuthentication(problem: String)
    /// `davit password` got none.
    case noPassword(reason: String)
    case other(String)

    /// What is wrong.
    package var message: String {
        switch self {
        case .folderMissing(let path): "there is no folder \(path)"
        case .notAFolder(let path): "\(path) is not a folder"
        case .folderNotReadable(let path): "the folder \(path) cannot be read"
        case .portInUse(let host, let port): "port \(port) of \(host) is in use"
        case .portNeedsPrivileges(let port): "port \(port) is reserved for privileged programs"
        case .addressNotAvailable(let host): "\(host) is not an address of this machine"
        case .unknownHost(let host): "the host \(host) is not known"
        case .socketInUse(let path): "\(path) is in use"
        case .socketNotUsable(let reason): "the socket cannot be made: \(reason)"
        case .accessLogNotWritable(let path, let reason):
            "the access log \(path) cannot be written: \(reason)"
        case .stateFolderNotWritable(let path, let reason):
            "the state folder \(path) cannot be written: \(reason)"
        case .stateFolderInShare(let state, let share):
            "the state folder \(state) lies inside the shared folder \(share)"
        case .stateFolderHeld(let path, 0): "the state folder \(path) is in use by another server"
        case .stateFolderHeld(let path, let process):
            "the state folder \(path) is in use by process \(process)"
        case .stateFromNewerVersion(let path): "the state in \(path) was written by a newer davit"
        case .stateUnreadable(let path, let reason): "the state in \(path) cannot be read: \(reason)"
        case .stateDamaged(let path): "the state in \(path) is damaged"
        case .noState(let path, let share): "there is no state of \(share) in \(path)"
        case .noLock(let name, _): "there is no lock on, or with the token, \(name)"
        case .serverSilent(let path, 0, let reason):
            "the server that uses the state folder \(path) does not answer: \(reason)"
        case .serverSilent(let path, let process, let reason):
            "process \(process), which uses the state folder \(path), does not answer: \(reason)"
        case .noStateFolder: "there is no place for the state: neither XDG_STATE_HOME nor HOME is set"
        case .userFileUnreadable(let path, let reason): "the user file \(path) cannot be read: \(reason)"
        case .userFileNotPrivate(let path): "the user file \(path) is open to others than its owner"
        case .userFileLine(let path, let line, let problem): "line \(line) of \(path): \(problem)"
        case .userFileEmpty(let path): "the user file \(path) has no users"
        case .badUser(let name, let problem): "the user '\(name)' cannot be used: \(problem)"
        case .recordingFolderNotWritable(let path, let reason):
            "nothing can be recorded in \(path): \(reason)"
        case .recordingFolderNotEmpty(let path): "the folder \(path) for the recording is not empty"
        case .recordingFolderInShare(let path, let share):
            "the folder \(path) for the recording lies inside the shared folder \(share)"
        case .recordingUnreadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .noRecording(let path): "there is no recording in \(path)"
        case .cannotReplay(let reason): "nothing could be replayed: \(reason)"
        case .replayDiffers(1): "one thing is not as expected"
        case .replayDiffers(let count): "\(count) things are not as expected"
        case .certificateNotUsable(let path, let reason): (path.map { "\($0): " } ?? "") + reason
        case .badAuthentication(let problem): "nobody could log in: \(problem)"
        case .noPassword(let reason): "there is no password: \(reason)"
        case .other(let reason): reason
        }
    }

    /// What to do about it; nil where there is nothing to say.
    package var advice: String? {
        switch self {
        case .folderMissing(let path): "Create it (mkdir -p '\(path)'), or check the name."
        case .notAFolder: "davit shares folders; give the one that holds this file."
        case .folderNotReadable: "Run davit as a user who may list it, or change its permissions."
        case .portInUse: "Stop the other server, or choose another port: --port 8081, or --port 0 for any."
        case .portNeedsPrivileges: "Choose a port from 1024 on: --port 8080"
        case .addressNotAvailable: "See the addresses with 'ip address', or use --host localhost."
        case .unknownHost: "Check the name, or give an address."
        case .socketInUse:
            "Stop the other server, or choose another name. A file that is no socket is never replaced."
        case .socketNotUsable: "It needs a folder that davit may write to, such as /run/davit."
        case .accessLogNotWritable: "Choose a file that davit may write to, or - for standard error."
        case .stateFolderNotWritable: "Choose another one: --state-dir /some/folder"
        case .stateFolderInShare: "Clients would see it. Choose one outside: --state-dir /some/folder"
        case .stateFolderHeld:
            "Stop that server, or choose another folder for this one: --state-dir /some/folder"
        case .stateFromNewerVersion: "Use that version again, or another folder: --state-dir /some/folder"
        case .stateUnreadable:
            "Move the folder away to start without locks and properties, or restore a copy."
        case .stateDamaged:
            "Stop the server and keep a copy. Then restore an older one, or move the folder away to start without."
        case .noState: "It is made when the folder is first served. Is it elsewhere? --state-dir /some/folder"
        case .noLock(_, let folder): "See what there is: davit locks list '\(folder)'"
        case .serverSilent: "Try again, as its user; or stop it, and the check needs no answer."
        case .noStateFolder: "Say where: --state-dir /some/folder"
        case .userFileUnreadable:
            "It needs lines NAME:PASSWORD, and must be readable for the user davit runs as."
        case .userFileNotPrivate(let path): "Make it private: chmod 600 '\(path)'"
        case .userFileLine:
            "Each line is NAME:PASSWORD, or from 'davit password'; empty lines and lines that begin with # do not count."
        case .userFileEmpty: "It needs lines NAME:PASSWORD, or those that 'davit password' prints."
        case .badUser: "Choose another name or password, or make the line again with 'davit password'."
        case .badAuthentication: "See --auth and --realm in 'davit serve --help'."
        case .noPassword: nil
        case .recordingFolderNotWritable: "Choose another one: --record /some/folder"
        case .recordingFolderNotEmpty: "One folder is one session. Choose a new one: --record /some/folder"
        case .recordingFolderInShare: "Clients would see it. Choose one outside: --record /some/folder"
        case .recordingUnreadable, .noRecording:
            "Give files that 'davit serve --record' has written, or their folder."
        case .cannotReplay: "Is the server there? Does it need --user NAME:PASSWORD?"
        case .certificateNotUsable:
            "Certificates and keys are files in PEM. See 'davit serve --help', and docs/configuration.md."
        case .replayDiffers, .other: nil
        }
    }
}

/// The status the command ends with.
package enum ExitStatus {
    package static let success: Int32 = 0
    package static let failure: Int32 = 1
    /// `EX_USAGE` of sysexits.
    package static let usage: Int32 = 64
}

/// The text for standard error: what is wrong, then what to do.
package enum ErrorText {
    package static func of(_ error: UsageError, in command: Subcommand = .serve) -> String {
        text(error.message, error.advice(for: command))
    }

    package static func of(_ failure: Failure) -> String { text(failure.message, failure.advice) }

    private static func text(_ message: String, _ advice: String?) -> String {
        "davit: \(message)\n" + (advice.map { "       \($0)\n" } ?? "")
    }
}

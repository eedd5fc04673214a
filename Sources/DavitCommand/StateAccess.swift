internal import Davit
internal import DavitAccounts
internal import DavitControl
internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitSQLite
internal import DavitServer
internal import DavitStore
internal import DavitSystem

/// The state of a share, for commands that ask the server that owns it, or open it directly if no server is
/// running.
struct StateAccess: ShareAccess {
    /// The name of the database in the state folder.
    private static let fileName = "state.sqlite"
    /// The maximum number of attempts to lock the folder or else ask the server. One is not sufficient,
    /// because the server can stop in between.
    private static let attempts = 3

    /// The shared folder, for reading only.
    let resources: FileResourceReader
    /// The state folder.
    let path: String

    /// - Parameters:
    ///   - folder: the shared folder, as given on the command line.
    ///   - stateFolder: nil for the default.
    /// - Parameter isCreated: whether the state folder is created, later, if it does not exist.
    /// - Throws: ``CommandFailure``, including when no state exists and `isCreated` is false; creates nothing.
    init(folder: String, stateFolder: String?, isCreated: Bool = false) throws(CommandFailure) {
        do throws(ServerError) {
            do throws(FileResourceStore.RootError) {
                resources = try FileResourceReader(root: folder)
            } catch {
                throw .shareNotUsable(path: folder, error)
            }
            path = try StateFolder.path(stateFolder, share: resources)
            if StateFolder.isInside(path, share: resources.rootPath) {
                throw .stateFolderInsideShare(path: path)
            }
        } catch {
            throw CommandFailure(error, folder: folder)
        }
        if isCreated { return }
        do throws(SystemError) {
            _ = try ExclusiveFolder.canonical(path + "/" + Self.fileName)
        } catch {
            switch error.code {
            case .noEntry, .notDirectory: throw .noState(path, share: resources.rootPath)
            default: throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    /// Asks the server that uses the state folder, or opens the state in this process if there is none.
    /// Blocks.
    /// - Parameters:
    ///   - asking: asks the server; returns nil if it no longer listens.
    ///   - alone: called with the open state while this process holds the lock of the folder, so that no
    ///     server can start.
    func perform<R>(
        asking: (ServerConnection) throws(CommandFailure) -> R?,
        alone: (SQLiteStateStore) throws(CommandFailure) -> R
    ) throws(CommandFailure) -> R {
        var owner: Int32?
        for _ in 0..<Self.attempts {
            switch try own() {
            case .owned(let folder):
                // The compiler can release an object after its last use; the lock must be held until the end.
                defer { withExtendedLifetime(folder) {} }
                return try alone(try store())
            case .held(let process): owner = process
            }
            if let answer = try asking(ServerConnection(path: path, owner: owner)) { return answer }
        }
        throw .serverSilent(path, process: owner ?? 0, reason: "the server does not accept connections")
    }

    /// Returns the problems of the databases in the state folder, which this process checks without changing them unless a
    /// server uses them; then that server checks its state. Blocks.
    /// - Returns: nil if there is no state yet.
    func quickCheck() throws(CommandFailure) -> [String]? {
        guard has(Self.fileName) else { return nil }
        var owner: Int32?
        for _ in 0..<Self.attempts {
            switch try own() {
            case .owned(let folder):
                defer { withExtendedLifetime(folder) {} }
                var problems: [String] = []
                for name in [Self.fileName, SQLiteAccountStore.fileName] where has(name) {
                    do throws(StateError) {
                        let lines = try SQLiteStateStore.quickCheck(
                            at: "\(path)/\(name)", hasLog: has("\(name)-wal"))
                        problems += lines.map { "\(name): \($0)" }
                    } catch {
                        throw .stateUnreadable(path, reason: "\(name): \(error.text)")
                    }
                }
                return problems
            case .held(let process): owner = process
            }
            if let answer = try ServerConnection(path: path, owner: owner).ask(.check) { return answer }
        }
        throw .serverSilent(path, process: owner ?? 0, reason: "the server does not accept connections")
    }

    /// Whether the state folder contains a database of accounts.
    var hasAccounts: Bool { has(SQLiteAccountStore.fileName) }

    private func has(_ name: String) -> Bool {
        (try? ExclusiveFolder.hasEntry(at: "\(path)/\(name)")) == true
    }

    /// Passes requests to the server of the share, or handles them in this process. Blocks.
    /// - Parameter work: called with a function that sends a request, and returns nil if the server no longer
    ///   listens; `work` then also returns nil.
    func ask<R>(
        _ work: (_ ask: (ControlRequest) throws(CommandFailure) -> [String]?) throws(CommandFailure) -> R?
    ) throws(CommandFailure) -> R {
        try perform { (server) throws(CommandFailure) in
            try work { (request) throws(CommandFailure) in try server.ask(request) }
        } alone: { (store) throws(CommandFailure) in
            let folders = try folders(store)
            let source = try accounts(folders.homes?.path)
            let share = try share(store, folders, source)
            let accounts = AccountAdmin(source)
            let bans = BanList(
                store: DatabaseBans(folder: path),
                report: { report in
                    guard case .failed(let reason) = report else { return }
                    StandardStreams.writeError("davit: \(reason)\n")
                },
                now: { Clock.wallNow() / 1_000_000_000 })
            let admin = StateAdmin(store: store, share: share, accounts: accounts, bans: bans, origin: "")
            let result = try work { (request) throws(CommandFailure) in
                switch admin.answer(request) {
                case .lines(let lines): return lines
                case .refused(let reason):
                    if request.hasRefusalsForUsers { throw .other(reason) }
                    throw .stateUnreadable(path, reason: reason)
                }
            }
            guard let result else { throw .other("no response") }
            return result
        }
    }

    /// Opens the shared folder and those that the last server has mounted in it.
    func folders(_ store: SQLiteStateStore) throws(CommandFailure) -> ShareFolders {
        let intents: [RenameIntent]
        do throws(StateError) { intents = try store.intents() } catch {
            throw .stateUnreadable(path, reason: error.text)
        }
        do throws(ServerError) {
            let record = try MountRecord(in: path)
            let folders = try ShareFolders(
                resources.rootPath, mounts: record.mounts, homes: record.homes)
            try record.check(intents, in: MountRecord(of: folders), path)
            return folders
        } catch {
            throw CommandFailure(error, folder: resources.rootPath)
        }
    }

    /// Opens the share as a server does, except that leftovers are not removed.
    private func share(
        _ store: SQLiteStateStore, _ folders: ShareFolders, _ accounts: AccountAdmin.Source
    ) throws(CommandFailure) -> Share {
        var configuration = ShareConfiguration()
        // A command has all rights, but the rules move with their folders.
        if case .directory(let directory) = accounts { configuration.access = directory }
        do throws(StateError) {
            let share = Share(
                resources: folders.store, state: try IndexedShareState(store: store),
                work: InlineWorkRunner(),
                configuration: configuration, now: { Timestamp(nanoseconds: Clock.wallNow()) },
                report: { StandardStreams.writeError("davit: \($0)\n") })
            try share.recovery.recover()
            return share
        } catch {
            throw .stateUnreadable(path, reason: error.text)
        }
    }

    /// - Parameter homes: the collection that contains home folders.
    private func accounts(_ homes: ResourcePath?) throws(CommandFailure) -> AccountAdmin.Source {
        do throws(AccountError) {
            guard try SQLiteAccountStore.exists(in: path) else { return .missing(folder: path) }
            return .directory(try AccountDirectory(SQLiteAccountStore(folder: path), homes: homes))
        } catch {
            throw .other(error.text)
        }
    }

    private enum Ownership {
        case owned(ExclusiveFolder)
        case held(byProcess: Int32?)
    }

    private func own() throws(CommandFailure) -> Ownership {
        do throws(ExclusiveFolder.Failure) {
            return .owned(try ExclusiveFolder(path: path))
        } catch {
            switch error {
            case .held(let process): return .held(byProcess: process)
            case .notUsable(let error): throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    private func store() throws(CommandFailure) -> SQLiteStateStore {
        do throws(StateError) { return try SQLiteStateStore(folder: path) } catch {
            throw .stateUnreadable(path, reason: error.text)
        }
    }

    /// Sends requests to the server that owns a state folder.
    struct ServerConnection {
        let path: String
        let owner: Int32?

        /// Sends a request and returns the lines of the response.
        ///
        /// - Returns: nil if no server listens.
        func ask(_ request: ControlRequest) throws(CommandFailure) -> [String]? {
            let reason: String
            var isAnswered = false
            do throws(ControlClient.Problem) {
                switch try ControlClient.ask(request, in: path) {
                case .lines(let lines): return lines
                case .refused(let why): reason = why
                }
                // The request was understood, and the reason concerns what it is about.
                if request.hasRefusalsForUsers { isAnswered = true }
            } catch {
                switch error {
                case .notListening: return nil
                case .disconnected: reason = "the connection was closed before the response was complete"
                case .malformed: reason = "invalid response"
                case .failed(let why): reason = why
                }
            }
            if isAnswered { throw .other(reason) }
            throw .serverSilent(path, process: owner ?? 0, reason: reason)
        }
    }
}

/// Runs blocking calls on the calling thread: a command has no other work.
private struct InlineWorkRunner: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}

internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitSQLite
internal import DavitServer
internal import DavitStore
internal import DavitSystem

/// The state of a share, for commands that ask the server that owns it, or look themselves where none does.
struct StateAccess {
    /// The database in the state folder.
    private static let fileName = "state.sqlite"
    /// A server that ends lets go of the folder between the two questions.
    private static let attempts = 3

    /// The shared folder: commands that ask a server, or look around, cannot change it.
    let resources: FileResourceReader
    /// The state folder.
    let path: String

    /// - Parameters:
    ///   - folder: the shared folder, as given.
    ///   - stateFolder: nil for the default.
    /// - Throws: also where there is no state; nothing is made.
    init(folder: String, stateFolder: String?) throws(Failure) {
        do throws(ServerError) {
            do throws(FileResourceStore.RootError) {
                resources = try FileResourceReader(root: folder)
            } catch {
                throw .shareNotUsable(path: folder, error)
            }
            path = try StateFolder.path(stateFolder, share: resources)
        } catch {
            throw Failure(error, folder: folder)
        }
        do throws(SystemError) {
            _ = try OwnedFolder.canonical(path + "/" + Self.fileName)
        } catch {
            switch error.code {
            case .noEntry, .notDirectory: throw .noState(path, share: resources.rootPath)
            default: throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    /// Asks the server, or does without it. Blocks.
    /// - Parameters:
    ///   - asking: asks a server; nil if nobody is there to ask any more.
    ///   - alone: is the owner of the folder, so that no server starts meanwhile.
    func perform<R>(
        asking: (Asker) throws(Failure) -> R?, alone: (SQLiteStateStore) throws(Failure) -> R
    ) throws(Failure) -> R {
        var owner: Int32?
        for _ in 0..<Self.attempts {
            switch try own() {
            case .owned(let folder):
                // An object lives as long as it is used; the lock shall be held until the end.
                defer { withExtendedLifetime(folder) {} }
                return try alone(try store())
            case .held(let process): owner = process
            }
            if let answer = try asking(Asker(path: path, owner: owner)) { return answer }
        }
        throw .serverSilent(path, process: owner ?? 0, reason: "it takes no questions")
    }

    /// Asks the server about its share, or looks after that in its place. Blocks.
    /// - Parameter work: gets who answers; its result is nil if an answer was, because nobody is there to ask any more.
    func ask<R>(
        _ work: (_ ask: (ControlRequest) throws(Failure) -> [String]?) throws(Failure) -> R?
    ) throws(Failure) -> R {
        try perform { (server) throws(Failure) in
            try work { (request) throws(Failure) in try server.ask(request) }
        } alone: { (store) throws(Failure) in
            let desk = StateDesk(store: store, share: try share(store), origin: "")
            let result = try work { (request) throws(Failure) in
                switch desk.answer(request) {
                case .lines(let lines): return lines
                case .refused(let reason): throw .stateUnreadable(path, reason: reason)
                }
            }
            guard let result else { throw .other("there was no answer") }
            return result
        }
    }

    /// The share as a server would have it, but for one thing: leftovers stay until a server starts.
    private func share(_ store: SQLiteStateStore) throws(Failure) -> Share {
        let files: FileResourceStore
        do throws(FileResourceStore.RootError) {
            files = try FileResourceStore(root: resources.rootPath)
        } catch {
            throw Failure(.shareNotUsable(path: resources.rootPath, error), folder: resources.rootPath)
        }
        do throws(StateError) {
            let share = Share(
                resources: files, state: try ShareState(store: store), work: WorkHere(),
                configuration: ShareConfiguration(), now: { Timestamp(nanoseconds: Clock.wallNow()) },
                report: { StandardStreams.writeError("davit: \($0)\n") })
            try share.recover()
            return share
        } catch {
            throw .stateUnreadable(path, reason: error.text)
        }
    }

    private enum Ownership {
        case owned(OwnedFolder)
        case held(byProcess: Int32?)
    }

    private func own() throws(Failure) -> Ownership {
        do throws(OwnedFolder.Failure) {
            return .owned(try OwnedFolder(path: path))
        } catch {
            switch error {
            case .held(let process): return .held(byProcess: process)
            case .notUsable(let error): throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    private func store() throws(Failure) -> SQLiteStateStore {
        do throws(StateError) { return try SQLiteStateStore(folder: path) } catch {
            throw .stateUnreadable(path, reason: error.text)
        }
    }

    /// Asks the server that owns a state folder.
    struct Asker {
        let path: String
        let owner: Int32?

        /// - Returns: nil if nobody is there to ask.
        func ask(_ request: ControlRequest) throws(Failure) -> [String]? {
            let reason: String
            do throws(ControlClient.Problem) {
                switch try ControlClient.ask(request, in: path) {
                case .lines(let lines): return lines
                case .refused(let why): reason = why
                }
            } catch {
                switch error {
                case .nobodyListens: return nil
                case .cutOff: reason = "it ended before it answered"
                case .malformed: reason = "its answer cannot be understood"
                case .failed(let why): reason = why
                }
            }
            throw .serverSilent(path, process: owner ?? 0, reason: reason)
        }
    }
}

/// Blocking calls run where they are made: a command has nothing else to do.
private struct WorkHere: BlockingWork {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
}

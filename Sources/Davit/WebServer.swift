internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitPage
internal import DavitRecording
internal import DavitSQLite
internal import DavitServer
internal import DavitStore
internal import DavitSystem
public import DavitTransport
internal import Synchronization

/// A folder, shared over WebDAV.
///
/// ```swift
/// let server = try WebServer(sharing: "/srv/files")
/// try await server.run()
/// ```
public final class WebServer: Sendable {
    private let http: HTTPServer
    private let pool: BlockingPool
    private let resources: FileResourceStore
    private let state: SQLiteStateStore
    /// Held as long as the server lives: nobody else may use the state meanwhile.
    private let folder: OwnedFolder
    private let log: Log
    private let recorder: Recorder?
    /// Absent before the start, and where the folder cannot have a socket.
    private let control = AtomicLazyReference<ControlServer>()
    private let isStopping = Atomic<Bool>(false)

    /// Opens the share and its state, and finishes what a crash interrupted. Listens to nothing yet.
    public init(sharing path: String, configuration: Configuration = Configuration()) throws(ServerError) {
        try configuration.check()
        log = Log(level: configuration.logLevel)
        pool = BlockingPool()
        do throws(FileResourceStore.RootError) {
            resources = try FileResourceStore(root: path, sync: configuration.sync)
        } catch {
            throw .shareNotUsable(path: path, error)
        }
        folder = try StateFolder.open(configuration.stateFolder, share: resources)
        state = try Self.openState(in: folder, configuration.sync, pool)
        let share = try Self.makeShare(resources, state, folder, pool, configuration, log)
        var transport = configuration.transport(log: log)
        recorder = try configuration.recorder(outside: resources.rootPath, log: log)
        if let recorder { transport.tap = { recorder.tap(for: $0) } }
        transport.upkeep = { [resources] in resources.closeUnusedFiles() }
        let application = WebDAVHandler(share: share, page: FolderListing())
        if configuration.accounts.isEmpty {
            let guarded = HostGuard(names: try configuration.publicHosts(), next: application)
            http = HTTPServer(configuration: transport, handler: guarded, pool: pool, log: log)
        } else {
            let guarded = BasicAuthentication(
                accounts: try configuration.checkedAccounts(), optionsFields: OptionsMethod.complianceFields,
                next: application)
            http = HTTPServer(configuration: transport, handler: guarded, pool: pool, log: log)
        }
    }

    private static func openState(
        in folder: OwnedFolder, _ sync: SyncLevel, _ pool: BlockingPool
    ) throws(ServerError) -> SQLiteStateStore {
        if sync == .full {
            do throws(SystemError) { try folder.sync() } catch {
                throw .stateFolderNotUsable(path: folder.path, error)
            }
        }
        do throws(StateError) {
            return try SQLiteStateStore(
                folder: folder.path, durability: sync == .full ? .powerLoss : .processDeath,
                background: BackgroundWork { pool.start($0) },
                onCommit: { FileFaults.step("sqlite-commit") })
        } catch {
            throw ServerError.stateNotUsable(path: folder.path, reason: "\(error)")
        }
    }

    private static func makeShare(
        _ resources: FileResourceStore, _ store: SQLiteStateStore, _ folder: OwnedFolder,
        _ pool: BlockingPool, _ configuration: Configuration, _ log: Log
    ) throws(ServerError) -> Share {
        let publicHosts = try configuration.publicHosts()
        do throws(StateError) {
            var settings = ShareConfiguration()
            settings.isReadOnly = configuration.isReadOnly
            settings.publicHosts = publicHosts
            let share = Share(
                resources: resources, state: try ShareState(store: store), work: PoolWork(pool: pool),
                configuration: settings, now: { Timestamp(nanoseconds: Clock.wallNow()) },
                report: { log.error("a fault that no response could carry", ["fault": $0]) })
            try share.recover()
            return share
        } catch {
            throw ServerError.stateNotUsable(path: folder.path, reason: "\(error)")
        }
    }

    /// Listens. Requests are answered from now on.
    /// - Returns: every address, with the port that was chosen where the configuration left it open.
    public func start() throws(ServerError) -> [BoundAddress] {
        let addresses: [BoundAddress]
        do throws(TransportError) { addresses = try http.start() } catch { throw .cannotListen(error) }
        startControl()
        return addresses
    }

    /// Other commands may ask from now on. The share is served also where that is not possible: some volumes
    /// have no sockets.
    private func startControl() {
        do throws(SystemError) {
            let server = try ControlServer(folder: folder.path) { [state] in Self.answer($0, about: state) }
            _ = control.storeIfNil(server)
        } catch {
            log.warning("other commands cannot ask this server", ["reason": error.description])
        }
    }

    /// Removes what an earlier run left behind, in the background, as slowly as it takes.
    public func sweepLeftovers() {
        pool.start { [resources, self] in
            FileFaults.uncounted {
                resources.sweepLeftovers(isCancelled: { self.isStopping.load(ordering: .relaxed) })
            }
        }
    }

    /// Stops accepting; requests in flight end, or are cut after the grace time. Returns at once.
    public func shutdown() {
        isStopping.store(true, ordering: .relaxed)
        http.shutdown()
    }

    /// Blocks the calling thread until the server has stopped. The state then is in its database alone, and nothing
    /// of this process writes there any more.
    public func waitUntilStopped() {
        http.waitUntilStopped()
        recorder?.stop()
        isStopping.store(true, ordering: .relaxed)
        state.endChecks()
        control.load()?.stop()
        pool.shutdown()
        // Closing the database does it too, but when that happens is up to the thread that lets go of it last.
        do throws(StateError) { try state.checkpoint() } catch {
            log.warning("the log of the state was left for the next start", ["reason": "\(error)"])
        }
    }

    /// Listens, and returns when the server has stopped.
    public func run() async throws(ServerError) {
        _ = try start()
        sweepLeftovers()
        let waiting = BlockingPool(threads: 1)
        _ = await waiting.run { self.waitUntilStopped() }
    }
}

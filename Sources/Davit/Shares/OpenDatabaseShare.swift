#if Postgres
internal import DavitEngine
internal import DavitHTTP
internal import DavitPage
internal import DavitServer
internal import DavitStore
internal import DavitTree
internal import Synchronization

/// A share in a database, for the lifetime of its server.
final class OpenDatabaseShare: LifecycleObserver {
    let handler: any Handler
    private let connected: ConnectedDatabase
    private let share: Share
    /// Nil if sync-collection is disabled.
    private let journal: TreeJournal?
    private let isMaintaining = Atomic<Bool>(false)

    init(
        _ configuration: WebDAVShare, _ location: SharedDatabase, in environment: ServerEnvironment
    ) throws(ServerError) {
        let log = environment.log
        let report: @Sendable (String) -> Void = { log(.error, "share operation failed", ["reason": $0]) }
        connected = try ConnectedDatabase(location, report: report)
        let (tree, work) = (connected.tree, connected.work)
        var settings = configuration.shareConfiguration(in: environment)
        settings.audit = environment.audit.map { ShareAudit($0, folder: location.share) }
        journal =
            configuration.answersSyncCollection
            ? TreeJournal(tree, connected.servers, report: report) : nil
        share = Share(
            resources: TreeStore(tree, work: work), state: TreeState(tree, report: report), journal: journal,
            work: work, sessions: tree, configuration: settings, now: { tree.now }, report: report,
            limitLog: LimitLog { log(.warning, "request refused by a limit", $0.details) })
        var page = configuration.page
        page.title = page.title ?? location.share
        handler = WebDAVHandler(
            share: share, page: page.isEnabled ? BrowserPage(settings: page) : nil, administration: nil)
    }

    /// The maximum number of rows of each kind that one call of ``performMaintenance()`` removes.
    private static let maintenanceLimit = 1_000

    func performMaintenance() -> Bool {
        guard !isMaintaining.exchange(true, ordering: .acquiring) else { return true }
        let isStarted = connected.threads.start { [self] in
            defer { isMaintaining.store(false, ordering: .releasing) }
            let tree = connected.tree
            // Failures are reported; another node or a later call continues.
            try? tree.run {
                _ = try? tree.removeDetached(limit: Self.maintenanceLimit)
                share.trashMaintenance.run()
                UploadEngine(share: share).removeExpired()
            }
            try? tree.run { try? tree.collect(limit: Self.maintenanceLimit) }
            try? journal?.maintain()
            _ = share.changeEvents?.poll()
        }
        if !isStarted { isMaintaining.store(false, ordering: .releasing) }
        // Other nodes must see that this one runs.
        return true
    }

    func serverDidStop() {
        journal?.stop()
        connected.close()
    }
}
#endif

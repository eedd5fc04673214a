#if Postgres
internal import DavitAccounts
internal import DavitControl
internal import DavitEngine
internal import DavitHTTP
internal import DavitPage
internal import DavitServer
internal import DavitStore
internal import DavitSystem
internal import DavitTree
internal import Synchronization

/// A share in a database, for the lifetime of its server.
final class OpenDatabaseShare: LifecycleObserver {
    let handler: any Handler
    private let connected: ConnectedDatabase
    private let share: Share
    /// Nil if sync-collection is disabled.
    private let journal: TreeJournal?
    private let accountStore: PostgresAccountStore
    let accounts: AccountDirectory?
    let ownPolicy: OwnPolicy?
    let admin: AccountAdmin
    let pageTitle: String?
    private let place: String
    private let report: @Sendable (String) -> Void
    private let isMaintaining = Atomic<Bool>(false)
    private let isEnding = Atomic<Bool>(false)
    /// When the rules of folders in the trash were examined last.
    private let sweptRules = Mutex<ContinuousClock.Instant?>(nil)

    init(
        _ configuration: WebDAVShare, _ location: SharedDatabase, in environment: ServerEnvironment
    ) throws(ServerError) {
        let log = environment.log
        let report: @Sendable (String) -> Void = { log(.error, "share operation failed", ["reason": $0]) }
        self.report = report
        place = location.share
        connected = try ConnectedDatabase(location, report: report)
        let (tree, work) = (connected.tree, connected.work)
        accountStore = PostgresAccountStore(tree.connections, share: tree.shareID, node: tree.nodeID)
        accounts = try Self.openAccounts(accountStore, in: tree, hasPolicy: configuration.access != nil)
        ownPolicy = configuration.access.map { OwnPolicy($0) }
        admin = AccountAdmin(accounts, in: environment)
        var settings = configuration.shareConfiguration(in: environment)
        settings.audit = environment.audit.map { ShareAudit($0, folder: location.share) }
        settings.access = ownPolicy ?? accounts
        settings.hasAccountDatabase = accounts != nil
        journal =
            configuration.answersSyncCollection
            ? TreeJournal(tree, connected.servers, report: report) : nil
        share = Share(
            resources: TreeStore(tree, work: work), state: TreeState(tree, report: report), journal: journal,
            work: work, sessions: tree, configuration: settings, now: { tree.now }, report: report,
            limitLog: LimitLog { log(.warning, "request refused by a limit", $0.details) })
        var page = configuration.page
        page.title = page.title ?? location.share
        pageTitle = page.isEnabled ? page.shownTitle : nil
        handler = WebDAVHandler(
            share: share, page: page.isEnabled ? BrowserPage(settings: page) : nil,
            administration: accounts == nil ? nil : AdministrationEndpoint(admin))
    }

    /// Opens the accounts of the database, if it has had any. An error is fatal: without the rules, every client would have
    /// all rights.
    private static func openAccounts(
        _ store: PostgresAccountStore, in tree: TreeDatabase, hasPolicy: Bool
    ) throws(ServerError) -> AccountDirectory? {
        let directory: AccountDirectory
        do throws(AccountError) {
            guard try store.isInUse() else { return nil }
            directory = try AccountDirectory(store)
        } catch {
            throw .accountDatabaseNotUsable(reason: error.text)
        }
        // The policy would replace the rules.
        if hasPolicy { throw .accessInTwoPlaces(accounts: "the database") }
        tree.checkRights(
            TreeDatabase.RightsCheck(
                generation: { store.appliedGeneration },
                refresh: { [weak directory] in _ = try? directory?.refresh() }))
        return directory
    }

    // MARK: Life cycle of the server

    func serverDidStart() {
        isEnding.store(false, ordering: .relaxed)
        guard accounts != nil else { return }
        do throws(SystemError) {
            try SystemThread.start(named: "davit-accounts") { [weak self] in
                while let self, !self.isEnding.load(ordering: .relaxed) {
                    FileFaults.uncounted { self.refreshAccounts() }
                    SystemThread.sleep(milliseconds: Self.refreshMilliseconds)
                }
            }
        } catch {
            report("the thread for changes of accounts cannot be started: \(error)")
        }
    }

    /// The time after which changes of accounts by other servers are in effect.
    private static let refreshMilliseconds = 1_000

    private func refreshAccounts() {
        // A failure is that of the database, which requests report, too.
        _ = try? accounts?.refresh()
    }

    /// The maximum number of rows of each kind that one call of ``performMaintenance()`` removes.
    private static let maintenanceLimit = 1_000
    /// How long one call removes the members of deleted collections.
    private static let removalTime = Duration.seconds(4)

    func performMaintenance() -> Bool {
        guard !isMaintaining.exchange(true, ordering: .acquiring) else { return true }
        let isStarted = connected.threads.start { [self] in
            defer { isMaintaining.store(false, ordering: .releasing) }
            FileFaults.uncounted { maintain() }
        }
        if !isStarted { isMaintaining.store(false, ordering: .releasing) }
        // Other nodes must see that this one runs.
        return true
    }

    private func maintain() {
        let tree = connected.tree
        // Failures are reported; another node or a later call continues.
        try? tree.run {
            // A large collection takes many transactions. Other maintenance is due, too.
            let end = ContinuousClock.now + Self.removalTime
            while let count = try? tree.removeDetached(limit: Self.maintenanceLimit), count > 0, .now < end {}
            share.trashMaintenance.run()
            UploadEngine(share: share).removeExpired()
            maintainRules()
        }
        try? tree.run { try? tree.collect(limit: Self.maintenanceLimit) }
        try? journal?.maintain()
        _ = share.changeEvents?.poll()
    }

    /// Ends moves of rules that could not be ended, or whose node is gone, and removes rules of folders that are no longer in
    /// the trash.
    private func maintainRules() {
        guard accounts != nil else { return }
        share.recovery.retryRuleMoves()
        let orphaned = (try? accountStore.orphanedMoves(after: connected.tree.nodeSeconds)) ?? []
        if !orphaned.isEmpty { share.recovery.recoverRuleMoves(orphaned) }
        // It takes time linear in the number of entries in the trash.
        let isDue = sweptRules.withLock { swept in
            if let swept, .now - swept < .seconds(3600) { return false }
            swept = .now
            return true
        }
        if isDue { share.recovery.sweepRules() }
    }

    func serverWillStop() { isEnding.store(true, ordering: .relaxed) }

    func serverDidStop() {
        journal?.stop()
        connected.close()
    }
}

extension OpenDatabaseShare: AccountShare {
    var sharePlace: String { place }
    var accountPlace: String { "the database of share \(place)" }
}
#endif

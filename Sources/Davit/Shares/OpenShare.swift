internal import DavitAccess
internal import DavitAccounts
internal import DavitControl
internal import DavitEngine
internal import DavitFileStore
internal import DavitHTTP
internal import DavitJournal
internal import DavitPage
internal import DavitSQLite
internal import DavitServer
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// The open folder and state of a share, for the lifetime of its server.
final class OpenShare: LifecycleObserver {
    let handler: any Handler
    let folders: ShareFolders
    /// The lock on the state folder, held for the lifetime of the server so that no other process uses it.
    let folder: ExclusiveFolder
    /// The locks on the state folders that servers of only a mounted folder use.
    private let mountLocks: [ExclusiveFolder]
    private let state: SQLiteStateStore
    private let share: Share
    /// Whether clients can change nothing.
    let isReadOnly: Bool
    /// What survives a power failure.
    let sync: SyncLevel
    /// The title of the browser page; nil without a page.
    let pageTitle: String?
    /// Nil if there is no database of accounts in the state folder.
    let accounts: AccountDirectory?
    /// Nil unless the application decides what each client may do.
    let ownPolicy: OwnPolicy?
    let admin: AccountAdmin
    /// Nil unless macOS metadata files are stored outside the share.
    private let macMetadata: MacMetadataFolder?
    /// Nil if sync-collection is disabled.
    private let journal: ShareJournal?
    private let environment: BorrowedEnvironment
    /// Nil while the server does not run, or if its socket cannot be created.
    private let control = Mutex<ControlServer?>(nil)
    private let isEnding = Atomic<Bool>(false)
    /// The result of the last write to the state database for a health check, and its time.
    private let databaseCheck = Mutex<(time: Int64, problem: String?)?>(nil)
    /// Responds to `davit status`; nil until the server is created.
    private let status = Mutex<(@Sendable () -> ControlResponse)?>(nil)
    /// The bans of the server; nil until it is created.
    private let bans = Mutex<BanList?>(nil)
    /// Reloads the settings of the server.
    private let reload = Mutex<(@Sendable () -> ReloadReport)?>(nil)

    /// The parts of the environment that do not retain this object.
    private struct BorrowedEnvironment {
        let log: ServerEnvironment.LogLine
        let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
    }

    init(_ configuration: WebDAVShare, in environment: ServerEnvironment) throws(ServerError) {
        if let program = configuration.uploadProgram { try ServerError.check(program: program.path) }
        folders = try ShareFolders(
            configuration.folder, mounts: configuration.mounts, homes: configuration.homes,
            sync: configuration.sync, keepsFree: configuration.keptFreeBytes)
        folder = try StateFolder.open(configuration.stateFolder, of: folders)
        mountLocks = try Self.locks(of: folders, isDefault: configuration.stateFolder == nil)
        self.environment = BorrowedEnvironment(log: environment.log, start: environment.background)
        state = try Self.openState(in: folder, configuration.sync, environment.background)
        try Self.record(folders, in: folder, state, configuration.sync)
        accounts = try Self.openAccounts(
            in: folder, homes: folders.homes?.path, hasPolicy: configuration.access != nil)
        ownPolicy = configuration.access.map { OwnPolicy($0) }
        macMetadata =
            configuration.rules.macMetadata == .aside
            ? try MacMetadataFolder(of: folders.store, in: folder, configuration) : nil
        var served = configuration.rules
        served.hiddenPaths = environment.hiddenPaths
        journal =
            configuration.answersSyncCollection
            ? Self.journal(of: folders.store, macMetadata, served, in: folder, environment) : nil
        share = try Self.makeShare(
            configuration, folders.store, macMetadata, state, accounts, ownPolicy ?? accounts, journal,
            folder, folders.root.rootPath, environment)
        isReadOnly = configuration.isReadOnly
        sync = configuration.sync
        admin = AccountAdmin(accounts, in: environment)
        var page = configuration.page
        page.title = page.title ?? folders.root.rootPath.split(separator: "/").last.map(String.init)
        pageTitle = page.isEnabled ? page.shownTitle : nil
        let handler = WebDAVHandler(
            share: share, page: page.isEnabled ? BrowserPage(settings: page) : nil,
            administration: accounts == nil ? nil : AdministrationEndpoint(admin))
        self.handler =
            (configuration.isReadOnly ? nil : folders.homes).map {
                HomeFolders(at: $0.path, in: $0.store, configuration.rules, environment, next: handler)
            }
            ?? handler
    }

    /// Locks the default state folders of the mounted folders, so that no other server uses one of these folders at the
    /// same time: it would remove interrupted uploads that it does not know. With a configured state folder, the
    /// administrator decides which servers share folders, as without mounts.
    private static func locks(
        of folders: ShareFolders, isDefault: Bool
    ) throws(ServerError) -> [ExclusiveFolder] {
        guard isDefault else { return [] }
        var locks: [ExclusiveFolder] = []
        for (_, store) in folders.mounts {
            locks.append(try StateFolder.open(StateFolder.path(nil, share: store.reader), of: folders))
        }
        return locks
    }

    private static func openState(
        in folder: ExclusiveFolder, _ sync: SyncLevel,
        _ background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) throws(ServerError) -> SQLiteStateStore {
        if sync == .full { try syncNames(in: folder) }
        do throws(StateError) {
            return try SQLiteStateStore(
                folder: folder.path, durability: sync == .full ? .powerLoss : .processDeath,
                background: BackgroundWork { background($0) },
                onCommit: { FileFaults.step("sqlite-commit") })
        } catch {
            throw .stateNotUsable(path: folder.path, reason: error.text)
        }
    }

    private static func syncNames(in folder: ExclusiveFolder) throws(ServerError) {
        do throws(SystemError) { try folder.sync() } catch {
            throw .stateFolderNotUsable(path: folder.path, error)
        }
    }

    /// Records the folders, unless a change was interrupted in a folder that is not in its place now.
    private static func record(
        _ folders: ShareFolders, in folder: ExclusiveFolder, _ state: SQLiteStateStore, _ sync: SyncLevel
    ) throws(ServerError) {
        let record = MountRecord(of: folders)
        let former = try MountRecord(in: folder.path)
        if former == record { return }
        let intents: [RenameIntent]
        do throws(StateError) { intents = try state.intents() } catch {
            throw .stateNotUsable(path: folder.path, reason: error.text)
        }
        try former.check(intents, in: record, folder.path)
        try record.write(in: folder.path)
        if sync == .full { try syncNames(in: folder) }
    }

    /// Opens the database of accounts, if there is one. An error is fatal: without the rules, every client would
    /// have all rights.
    /// - Parameters:
    ///   - homes: the collection that contains home folders.
    ///   - hasPolicy: whether the application decides what each client may do.
    private static func openAccounts(
        in folder: ExclusiveFolder, homes: ResourcePath?, hasPolicy: Bool
    ) throws(ServerError) -> AccountDirectory? {
        let directory: AccountDirectory?
        do throws(AccountError) {
            directory =
                try SQLiteAccountStore.exists(in: folder.path)
                ? try AccountDirectory(
                    SQLiteAccountStore(folder: folder.path, onCommit: { FileFaults.step("sqlite-commit") }),
                    homes: homes) : nil
        } catch {
            throw .accountDatabaseNotUsable(reason: error.text)
        }
        // The policy would replace the rules: clients could have rights that an administrator has taken from them, and could
        // use the home folders of others.
        if directory != nil, hasPolicy {
            throw .accessInTwoPlaces(accounts: folder.path)
        }
        // Without rights, every account could use the home folders of all others.
        if directory == nil, homes != nil { throw .homesWithoutAccounts }
        return directory
    }

    private static func journal(
        of resources: any FolderStore, _ macMetadata: MacMetadataFolder?, _ rules: ShareRules,
        in folder: ExclusiveFolder,
        _ environment: ServerEnvironment
    ) -> ShareJournal {
        let (background, log) = (environment.background, environment.log)
        return ShareJournal(
            of: resources, seenThrough: macMetadata?.store ?? resources, rules: rules,
            stateFolder: folder.path,
            background: BackgroundWork { work in background { FileFaults.uncounted(work) } },
            options: ShareJournal.Options(),
            report: { log(.warning, $0, ["reason": $1]) })
    }

    private static func makeShare(
        _ configuration: WebDAVShare, _ folders: any FolderStore, _ macMetadata: MacMetadataFolder?,
        _ store: SQLiteStateStore, _ accounts: AccountDirectory?, _ access: (any AccessPolicy)?,
        _ journal: ShareJournal?, _ folder: ExclusiveFolder, _ rootPath: String,
        _ environment: ServerEnvironment
    ) throws(ServerError) -> Share {
        do throws(StateError) {
            var settings = configuration.shareConfiguration(in: environment)
            settings.access = access
            settings.audit = environment.audit.map { ShareAudit($0, folder: rootPath) }
            settings.outbox = environment.outbox.map { ShareOutbox($0, folder: rootPath) }
            settings.hasAccountDatabase = accounts != nil
            let resources = macMetadata?.store ?? folders
            settings.filePath = { resources.filePath($0) }
            let log = environment.log
            let share = Share(
                resources: resources, state: try IndexedShareState(store: store),
                journal: journal,
                work: environment.work, configuration: settings,
                now: { Timestamp(nanoseconds: Clock.wallNow()) },
                report: { log(.error, "share operation failed", ["reason": $0]) },
                limitLog: LimitLog { log(.warning, "request refused by a limit", $0.details) })
            share.recovery.removesLeftovers()
            try share.recovery.recover()
            return share
        } catch {
            throw .stateNotUsable(path: folder.path, reason: error.text)
        }
    }

    /// Enables the removal of leftovers. Keeps the uploads of this share and of the server's other shares,
    /// because a folder can be shared twice, and one share can contain another.
    func removesLeftovers(besides others: [OpenShare]) {
        share.recovery.removesLeftovers(besides: others.map(\.share.recovery))
    }

    /// Sets what `davit reload` does.
    func acceptReloads(_ action: @escaping @Sendable () -> ReloadReport) { reload.withLock { $0 = action } }

    /// Sets the bans that `davit ban` lists and changes.
    func use(_ bans: BanList) { self.bans.withLock { $0 = bans } }

    // MARK: Life cycle of the server

    func serverDidStart() {
        isEnding.store(false, ordering: .relaxed)
        state.allowChecks()
        startControl()
        sweepLeftovers()
        journal?.start()
    }

    /// Starts to accept requests from `davit` commands in other processes. A failure is not fatal, because
    /// some volumes do not support sockets.
    private func startControl() {
        let status: @Sendable () -> ControlResponse? = { [weak self] in self?.status.withLock { $0 }?() }
        do throws(SystemError) {
            let server = try ControlServer(folder: folder.path) {
                [state, share, admin, weak self] request, user in
                if case .reload = request, let reload = self?.reload.withLock({ $0 }) {
                    return .lines(reload().lines)
                }
                guard let bans = self?.bans.withLock({ $0 }) else {
                    return .refused(reason: "the server is not running")
                }
                return StateAdmin(
                    store: state, share: share, accounts: admin, bans: bans,
                    origin: "a command of user \(user)",
                    status: status
                ).answer(request)
            }
            control.withLock { $0 = server }
        } catch {
            environment.log(
                .warning, "cannot accept requests from other davit commands", ["reason": error.description])
        }
    }

    /// Sets the function that responds to `davit status`.
    func respondToStatus(_ status: @escaping @Sendable () -> ControlResponse) {
        self.status.withLock { $0 = status }
    }

    /// How long the result of a write to the database is used, so that frequent health checks cause few writes.
    private static let databaseCheckNanoseconds: Int64 = 10_000_000_000

    /// Returns why the database cannot be written; nil if it can. Blocks.
    func databaseProblem() -> String? {
        databaseCheck.withLock { check in
            let now = Clock.coarseNow()
            if let check, now - check.time < Self.databaseCheckNanoseconds { return check.problem }
            var problem: String?
            do throws(StateError) { try state.checkWritable() } catch { problem = error.text }
            check = (now, problem)
            return problem
        }
    }

    var statistics: Share.Statistics { share.statistics }
    var journalBacklog: Int { journal?.backlog ?? 0 }

    /// Runs the first maintenance in the background: removes leftovers of earlier runs and expired macOS
    /// metadata files, maintains the trash and expires uploads.
    private func sweepLeftovers() {
        _ = environment.start { [self] in
            FileFaults.uncounted {
                let isCancelled = { self.isEnding.load(ordering: .relaxed) }
                for store in folders.all { store.sweepLeftovers(isCancelled: isCancelled) }
                macMetadata?.folder.sweepLeftovers(isCancelled: isCancelled)
                macMetadata?.sweep(share)
                share.recovery.trash.adoptMounted()
                share.recovery.sweepRules()
                share.trashMaintenance.run()
                UploadEngine(share: share).removeExpired()
            }
        }
    }

    func performMaintenance() -> Bool {
        var isNeededAgain = false
        for store in folders.all where store.closeUnusedFiles() { isNeededAgain = true }
        if share.changeEvents?.poll() == true { isNeededAgain = true }
        FileFaults.uncounted {
            share.recovery.retryRuleMoves()
            share.trashMaintenance.run()
        }
        UploadEngine(share: share).removeExpired()
        if let macMetadata {
            macMetadata.sweep(share)
            if macMetadata.folder.closeUnusedFiles() { isNeededAgain = true }
        }
        return isNeededAgain
    }

    func serverWillStop() {
        isEnding.store(true, ordering: .relaxed)
        state.endChecks()
        journal?.stop()
        control.withLock { $0.take() }?.stop()
    }

    /// Checkpoints the state, so that all of it is in the database file.
    func serverDidStop() {
        journal?.close()
        // Closing the database also does this, but only when the last thread releases it.
        do throws(StateError) { try state.checkpoint() } catch {
            environment.log(
                .warning, "checkpoint of the state database failed; retrying at the next start",
                ["reason": error.text])
        }
    }
}

extension LimitRefusal {
    /// The fields of the log entry; the log escapes their values.
    var details: KeyValuePairs<StaticString, String> {
        [
            "limit": cause, "account": account ?? "", "address": address,
            "suppressed": String(suppressedCount),
        ]
    }
}

extension WebDAVShare {
    /// Returns the settings of the engine, without those of accounts, logs and events.
    func shareConfiguration(in environment: ServerEnvironment) -> ShareConfiguration {
        var settings = ShareConfiguration()
        settings.isReadOnly = isReadOnly
        settings.maximumFileBytes = maximumFileBytes
        settings.maximumDepth = max(1, maximumDepth)
        settings.allowsInfiniteDepth = allowsInfiniteDepth
        settings.uploadSeconds = max(1, uploadExpiry.components.seconds)
        settings.publicHosts = environment.publicHosts
        settings.publicAuthorities = environment.publicAuthorities
        settings.securePublicHosts = environment.securePublicHosts
        settings.pageOrigins = environment.pageOrigins
        settings.hiddenPaths = environment.hiddenPaths
        settings.rules = rules
        settings.hooks = hooks
        settings.trash = trash
        let log = environment.log
        settings.hooks.uploadCheck = uploadProgram.map { UploadProgramCheck($0, log: log) }
        let lockBroken = hooks.lockBroken
        settings.hooks.lockBroken = { lock in
            log(.warning, "lock forcibly removed", lock.details)
            lockBroken?(lock)
        }
        return settings
    }
}

extension BrokenLock {
    /// The fields of the log entry; the log escapes their values.
    fileprivate var details: KeyValuePairs<StaticString, String> {
        [
            "path": root.description, "token": token, "owner": owner ?? "", "holder": holder ?? "",
            "by": principal ?? "", "from": origin,
        ]
    }
}

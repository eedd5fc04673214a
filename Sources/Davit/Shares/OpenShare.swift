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
    let handler: WebDAVHandler
    let resources: FileResourceStore
    /// The lock on the state folder, held for the lifetime of the server so that no other process uses it.
    let folder: ExclusiveFolder
    private let state: SQLiteStateStore
    private let share: Share
    /// Nil if there is no database of accounts in the state folder.
    let accounts: AccountDirectory?
    /// Set when the server uses the accounts.
    let authenticationSettings = Mutex<AuthenticationSettings?>(nil)
    /// Nil unless macOS metadata files are stored outside the share.
    private let macMetadata: MacMetadataFolder?
    /// Nil if sync-collection is disabled.
    private let journal: ShareJournal?
    private let environment: BorrowedEnvironment
    /// Nil while the server does not run, or if its socket cannot be created.
    private let control = Mutex<ControlServer?>(nil)
    private let isEnding = Atomic<Bool>(false)

    /// The parts of the environment that do not retain this object.
    private struct BorrowedEnvironment {
        let log: ServerEnvironment.LogLine
        let start: @Sendable (@escaping @Sendable () -> Void) -> Bool
    }

    init(_ configuration: WebDAVShare, in environment: ServerEnvironment) throws(ServerError) {
        do throws(FileResourceStore.RootError) {
            resources = try FileResourceStore(
                root: configuration.folder, sync: configuration.sync, keepsFree: configuration.keptFreeBytes)
        } catch {
            throw .shareNotUsable(path: configuration.folder, error)
        }
        folder = try StateFolder.open(configuration.stateFolder, share: resources)
        self.environment = BorrowedEnvironment(log: environment.log, start: environment.background)
        state = try Self.openState(in: folder, configuration.sync, environment.background)
        accounts = try Self.openAccounts(in: folder)
        macMetadata =
            configuration.rules.macMetadata == .aside
            ? try MacMetadataFolder(of: resources, in: folder, configuration) : nil
        var served = configuration.rules
        served.hiddenPaths = environment.hiddenPaths
        journal =
            configuration.answersSyncCollection
            ? Self.journal(of: resources, macMetadata, served, in: folder, environment) : nil
        share = try Self.makeShare(
            configuration, resources, macMetadata, state, accounts, journal, folder, environment)
        handler = WebDAVHandler(share: share, page: Self.page(configuration.page, of: resources))
    }

    /// Creates the browser page; its title defaults to the name of the folder.
    private static func page(_ settings: PageSettings, of resources: FileResourceStore) -> BrowserPage? {
        guard settings.isEnabled else { return nil }
        var settings = settings
        if settings.title == nil {
            settings.title = resources.rootPath.split(separator: "/").last.map(String.init)
        }
        return BrowserPage(settings: settings)
    }

    private static func openState(
        in folder: ExclusiveFolder, _ sync: SyncLevel,
        _ background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) throws(ServerError) -> SQLiteStateStore {
        if sync == .full {
            do throws(SystemError) { try folder.sync() } catch {
                throw .stateFolderNotUsable(path: folder.path, error)
            }
        }
        do throws(StateError) {
            return try SQLiteStateStore(
                folder: folder.path, durability: sync == .full ? .powerLoss : .processDeath,
                background: BackgroundWork { background($0) },
                onCommit: { FileFaults.step("sqlite-commit") })
        } catch {
            throw .stateNotUsable(path: folder.path, reason: error.text)
        }
    }

    /// Opens the database of accounts, if there is one. An error is fatal: without the rules, every client would
    /// have all rights.
    private static func openAccounts(in folder: ExclusiveFolder) throws(ServerError) -> AccountDirectory? {
        guard SQLiteAccountStore.exists(in: folder.path) else { return nil }
        do throws(AccountError) {
            return try AccountDirectory(SQLiteAccountStore(folder: folder.path))
        } catch {
            throw .accountDatabaseNotUsable(reason: error.text)
        }
    }

    private static func journal(
        of resources: FileResourceStore, _ macMetadata: MacMetadataFolder?, _ rules: ShareRules,
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
        _ configuration: WebDAVShare, _ resources: FileResourceStore, _ macMetadata: MacMetadataFolder?,
        _ store: SQLiteStateStore, _ accounts: AccountDirectory?, _ journal: ShareJournal?,
        _ folder: ExclusiveFolder,
        _ environment: ServerEnvironment
    ) throws(ServerError) -> Share {
        do throws(StateError) {
            var settings = ShareConfiguration()
            settings.isReadOnly = configuration.isReadOnly
            settings.maximumFileBytes = configuration.maximumFileBytes
            settings.maximumDepth = max(1, configuration.maximumDepth)
            settings.uploadSeconds = max(1, configuration.uploadExpiry.components.seconds)
            settings.publicHosts = environment.publicHosts
            settings.securePublicHosts = environment.securePublicHosts
            settings.pageOrigins = environment.pageOrigins
            settings.hiddenPaths = environment.hiddenPaths
            settings.rules = configuration.rules
            settings.hooks = configuration.hooks
            settings.trash = configuration.trash
            settings.access = accounts
            let root = resources.rootPath == "/" ? "" : resources.rootPath
            let aside = macMetadata?.store
            settings.filePath = { aside?.filePath($0) ?? root + $0.description }
            let log = environment.log
            let told = configuration.hooks.lockBroken
            settings.hooks.lockBroken = { lock in
                log(.warning, "lock forcibly removed", lock.details)
                told?(lock)
            }
            let share = Share(
                resources: macMetadata?.store ?? resources, state: try ShareState(store: store),
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
        do throws(SystemError) {
            let accounts = AccountAdmin(
                accounts.map { .directory($0) } ?? .notInUse, share: share,
                settings: authenticationSettings.withLock { $0 })
            let server = try ControlServer(folder: folder.path) { [state, share] request, user in
                StateAdmin(
                    store: state, share: share, accounts: accounts, origin: "a command of user \(user)"
                ).answer(request)
            }
            control.withLock { $0 = server }
        } catch {
            environment.log(
                .warning, "cannot accept requests from other davit commands", ["reason": error.description])
        }
    }

    /// Runs the first maintenance in the background: removes leftovers of earlier runs and expired macOS
    /// metadata files, maintains the trash and expires uploads.
    private func sweepLeftovers() {
        _ = environment.start { [self] in
            FileFaults.uncounted {
                let isCancelled = { self.isEnding.load(ordering: .relaxed) }
                resources.sweepLeftovers(isCancelled: isCancelled)
                macMetadata?.folder.sweepLeftovers(isCancelled: isCancelled)
                macMetadata?.sweep(share)
                share.recovery.trash.adoptMounted()
                share.trashMaintenance.run()
                UploadEngine(share: share).removeExpired()
            }
        }
    }

    func performMaintenance() -> Bool {
        var isNeededAgain = resources.closeUnusedFiles()
        if share.changeEvents?.poll() == true { isNeededAgain = true }
        FileFaults.uncounted { share.trashMaintenance.run() }
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

extension BrokenLock {
    /// The fields of the log entry; the log escapes their values.
    fileprivate var details: KeyValuePairs<StaticString, String> {
        [
            "path": root.description, "token": token, "owner": owner ?? "", "holder": holder ?? "",
            "by": principal ?? "", "from": origin,
        ]
    }
}

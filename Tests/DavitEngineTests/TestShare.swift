import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitJournal
import DavitServer
import DavitStore
import DavitSystem
import DavitTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A share for tests. Serves a new folder unless one is given, and keeps its state in memory unless a store
/// is given.
final class TestShare: Sendable {
    let folder: TemporaryFolder
    let client: TestClient<WebDAVHandler>
    let state: any ShareState
    let share: Share
    let resources: WatchedStore
    /// The folder for sidecar files; nil unless the rules of the share require it.
    let aside: TemporaryFolder?
    /// Nil unless the test requests a journal.
    let journal: ShareJournal?
    private let stateFolder: TemporaryFolder?
    private let files: FileResourceStore
    /// Retained until the test ends.
    private let mountedFolders: [TemporaryFolder]
    private let work: TestWork
    private let log = Log()
    private let clock: Mutex<Timestamp>

    /// - Parameters:
    ///   - pool: The threads for blocking calls.
    ///   - journal: Nil for a share without sync-collection.
    ///   - mounts: Other folders, by their mount points.
    init(
        _ folder: TemporaryFolder? = nil, mounts: [(path: ResourcePath, folder: TemporaryFolder)] = [],
        state store: any StateStore = MemoryStateStore(),
        sync: SyncLevel = .none, keepsFree: Int64? = nil, pool: BlockingPool = BlockingPool(),
        journal options: ShareJournal.Options? = nil, limitLog: LimitLog = LimitLog { _ in },
        _ configure: (inout ShareConfiguration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        work = TestWork(pool)
        var configuration = ShareConfiguration()
        // No test may depend on the speed of the machine.
        configuration.syncTimeout = .seconds(3600)
        configure(&configuration)
        state = try IndexedShareState(store: store)
        let files = try FileResourceStore(root: folder.path, sync: sync, keepsFree: keepsFree)
        self.files = files
        mountedFolders = mounts.map(\.folder)
        let aside = configuration.rules.macMetadata == .aside ? try TemporaryFolder() : nil
        self.aside = aside
        let mounted = try mounts.map { ($0.path, try FileResourceStore(root: $0.folder.path)) }
        let store: any FolderStore = mounts.isEmpty ? files : MountedStore(files, mounts: mounted)
        resources = WatchedStore(
            try aside.map { SidecarStore(store, sidecarFolder: try FileResourceStore(root: $0.path)) }
                ?? store)
        let stateFolder = try options.map { _ in try TemporaryFolder() }
        self.stateFolder = stateFolder
        var served = configuration.rules
        served.hiddenPaths = configuration.hiddenPaths
        journal = options.map { [resources, served] in
            ShareJournal(
                of: store, seenThrough: resources, rules: served,
                stateFolder: stateFolder?.path ?? "", background: .immediate, options: $0, report: { _, _ in }
            )
        }
        let now = Now()
        clock = Mutex(Timestamp(seconds: 1_800_000_000))
        share = Share(
            resources: resources, state: state, journal: journal, work: work,
            configuration: configuration, now: { now.value() },
            report: { [log] text in log.texts.withLock { $0.append(text) } }, limitLog: limitLog)
        client = TestClient(WebDAVHandler(share: share, page: nil))
        now.value = { [unowned self] in clock.withLock { $0 } }
        share.recovery.removesLeftovers()
        try share.recovery.recover()
    }

    deinit { journal?.close() }

    /// What the share has reported to the log.
    var reports: [String] { log.texts.withLock { $0 } }
    /// The number of jobs passed to another thread.
    var hopCount: Int { work.count.load(ordering: .relaxed) }
    /// The numbers of the sequences of all jobs that belong to one, in order.
    var sequences: [Int] { work.sequences.withLock { $0 } }
    /// The clients to which long work was charged, in order.
    var longWorkClients: [String] { work.longWorkClients.withLock { $0 } }

    /// Advances the clock.
    func wait(seconds: Int64) { clock.withLock { $0 = $0.adding(seconds: seconds) } }

    /// Removes files left over from earlier runs, as at startup.
    func sweep() { files.sweepLeftovers { false } }

    /// Runs shell commands in the folder, like another program that changes it.
    /// - Returns: The exit status.
    func shell(_ commands: String) -> Int32 {
        unsafe system("cd '\(folder.path)' && { \(commands); } 2>/dev/null")
    }
}

private final class Log: Sendable {
    let texts = Mutex<[String]>([])
}

/// The clock of a share, which is set once, before the first request.
private final class Now: @unchecked Sendable {
    var value: @Sendable () -> Timestamp = { Timestamp(seconds: 0) }
}

private final class TestWork: BlockingWorkRunner {
    private let pool: BlockingPool
    let count = Atomic<Int>(0)
    let sequences = Mutex<[Int]>([])
    let longWorkClients = Mutex<[String]>([])

    init(_ pool: BlockingPool) { self.pool = pool }

    func run<T: Sendable>(sequence: Int, _ work: @escaping @Sendable () -> T) async -> T? {
        sequences.withLock { $0.append(sequence) }
        return await run(work)
    }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        count.add(1, ordering: .relaxed)
        return await TestExecutor.waitingForCall { await pool.run { work() } }
    }

    func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T? {
        longWorkClients.withLock { $0.append(client) }
        count.add(1, ordering: .relaxed)
        return await TestExecutor.waitingForCall {
            await pool.longWork.run(
                for: client, isAdmitted: stage != .begins, isCancellable: stage != .cleansUp, work)
        }
    }
}

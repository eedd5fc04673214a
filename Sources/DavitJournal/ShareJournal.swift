public import DavitFileStore
public import DavitHTTP
internal import DavitSQLite
public import DavitStore
internal import DavitSystem
internal import Synchronization

/// The change journal of a shared folder: see `docs/decisions/journal.md`.
///
/// It only observes: changes made by davit itself are detected in the same way as those of other programs.
/// Before the first query it has no file, no thread, no watches and no rows. After that, and after a restart,
/// it compares its recorded state with the file system in the background.
public final class ShareJournal: ChangeJournal {
    /// Options for tests.
    package struct Options: Sendable {
        /// The maximum number of watched folders; all others are read again for each query.
        package var watchLimit = Int.max
        /// The maximum number of removals to store.
        package var removalLimit = 200_000
        /// The duration in nanoseconds after which a step of the comparison ends, once it has compared the
        /// current folder.
        package var step: Int64 = 25_000_000
        /// Whether folders are compared in the background after the first query and after a restart.
        package var walksInBackground = true

        package init() {}
    }

    /// Writes a log line for the operator: a constant message and a reason.
    public typealias Report = @Sendable (_ message: StaticString, _ reason: String) -> Void

    private struct State {
        var core: JournalCore?
        var thread: WatchThread?
        /// Stopped threads, which end once their current work is finished.
        var ended: [WatchThread] = []
        /// Whether the file must be created again.
        var isDamaged = false
        var reported = ""
        var listeners: [@Sendable (Int64?) -> Void] = []
        /// The last change number reported to listeners.
        var notified: Int64 = 0
    }

    private let folder: any FolderStore
    private let resources: any ResourceStore
    /// The rules that determine what is served; nil to serve everything.
    private let rules: ShareRules?
    private let path: String
    private let background: BackgroundWork
    private let report: Report
    private let options: Options
    private let state = Mutex(State())
    private let isEnding = Atomic<Bool>(false)
    private let isWalking = Atomic<Bool>(false)

    /// Creates a journal without opening any files.
    /// - Parameters:
    ///   - folder: the folder to watch.
    ///   - stateFolder: the folder for `journal.sqlite`. The caller must ensure that no other server uses it.
    ///   - background: runs comparisons while there are no queries.
    public convenience init(
        of folder: FileResourceStore, stateFolder: String, background: BackgroundWork,
        report: @escaping Report
    ) {
        self.init(
            of: folder, seenThrough: folder, stateFolder: stateFolder, background: background,
            options: Options(), report: report)
    }

    /// - Parameters:
    ///   - resources: the store through which the folder is examined.
    ///   - rules: determine which names are served and listed.
    package init(
        of folder: any FolderStore, seenThrough resources: any ResourceStore,
        rules: ShareRules = ShareRules(),
        stateFolder: String, background: BackgroundWork, options: Options, report: @escaping Report
    ) {
        self.folder = folder
        self.rules = rules.areEmpty ? nil : rules
        self.resources = rules.areEmpty ? resources : FilteredStore(resources, rules: rules)
        path = stateFolder + "/journal.sqlite"
        self.background = background
        self.options = options
        self.report = report
    }

    // MARK: Lifecycle

    /// Resumes the state of the last run: idle, or comparing in the background. Returns immediately.
    public func start() {
        isEnding.store(false, ordering: .relaxed)
        guard JournalDatabase.exists(at: path) else { return }
        walk()
    }

    /// Interrupts running work at the next opportunity. Returns immediately; subsequent queries throw
    /// `interrupted`.
    public func stop() { isEnding.store(true, ordering: .relaxed) }

    /// Records pending events, closes the file and waits for the thread. Blocks.
    public func close() {
        isEnding.store(true, ordering: .relaxed)
        state.withLock { state in
            state.core?.applyEvents()
            Self.closeCore(&state)
        }
        waitForThreads()
        state.withLock { $0.ended = [] }
    }

    /// Blocks until all stopped threads have ended.
    package func waitForThreads() {
        for thread in state.withLock({ $0.ended }) { thread.waitForEnd() }
    }

    /// The number of threads, each of which holds an event queue; for tests.
    package var threadCount: Int { state.withLock { $0.ended.count + ($0.thread == nil ? 0 : 1) } }

    /// The number of names and folders that still have to be compared because of reported changes; 0 while there
    /// is no journal. Waits while a comparison is running.
    package var backlog: Int {
        state.withLock { state in state.core.map { $0.pending.count + $0.dirty.markCount } ?? 0 }
    }

    // MARK: Queries

    public func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        let (position, last) = try withCore { (core) throws(JournalError) in
            (try core.advance(pass), core.position.last)
        }
        notify(of: last)
        return position
    }

    /// Notifies listeners. A query consumes the events of changes, so the watch thread does not report them.
    private func notify(of last: Int64) {
        let listeners = state.withLock { state -> [@Sendable (Int64?) -> Void] in
            guard last != state.notified else { return [] }
            state.notified = last
            return state.listeners
        }
        for listener in listeners { listener(last) }
    }

    public func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange] {
        try withCore { (core) throws(JournalError) in
            // Removals may have been discarded between two parts of a response.
            guard token.isValid(at: core.position) else { throw .forgotten }
            do throws(StateError) {
                let changes = try core.database.changes(
                    in: path, isDeep: isDeep, after: token.number, through: through, limit: limit)
                return changes.compactMap(ResourceChange.init)
            } catch {
                throw .state(error)
            }
        }
    }

    public func onChange(_ body: @escaping @Sendable (_ last: Int64?) -> Void) {
        state.withLock { $0.listeners.append(body) }
    }

    /// The number of members examined since the journal became active, the number of full-scan steps, and the
    /// number of SQLite virtual machine steps; for tests.
    package var costs: (looks: Int, scans: Int, steps: Int)? {
        state.withLock { state in
            state.core.map { ($0.looks, $0.database.scanSteps, $0.database.steps) }
        }
    }

    /// Whether the journal is active: it has an open file, a thread and watches.
    package var isAwake: Bool { state.withLock { $0.core != nil } }

    /// Simulates an overflow of the event queue.
    package func forgetEvents() { state.withLock { $0.core?.startOver() } }

    // MARK: Activation

    private func withCore<R: Sendable>(
        _ body: (JournalCore) throws(JournalError) -> R
    ) throws(JournalError) -> R {
        let result = state.withLock { state -> Result<R, JournalError> in
            // Do not discard the core, so that ``close()`` can record its events.
            if isEnding.load(ordering: .relaxed) { return .failure(.interrupted) }
            do throws(JournalError) {
                return .success(try body(try wake(&state)))
            } catch {
                if error != .gone, error != .forgotten { fail(&state, error) }
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func wake(_ state: inout State) throws(JournalError) -> JournalCore {
        if let core = state.core { return core }
        let watch = folder.makeWatch()
        let database = try openDatabase(&state)
        state.isDamaged = false
        let core = JournalCore(
            resources: resources, rules: rules, watch: watch, options: options, database: database,
            isCancelled: { [weak self] in self?.isEnding.load(ordering: .relaxed) ?? true })
        try startThread(watch, in: &state)
        state.core = core
        state.reported = ""
        walk()
        return core
    }

    private func startThread(_ watch: FolderWatch, in state: inout State) throws(JournalError) {
        guard watch.isPossible else {
            return report(
                "cannot watch folders; each query for changes reads them again",
                "file system events are not available")
        }
        do throws(SystemError) {
            state.thread = try WatchThread(watch) { [weak self] in self?.recordEvents() }
        } catch {
            throw .store(.busy)
        }
    }

    private func openDatabase(_ state: inout State) throws(JournalError) -> JournalDatabase {
        if state.isDamaged { JournalDatabase.remove(at: path) }
        do throws(StateError) {
            do throws(StateError) { return try open() } catch {
                guard case .failed(let reason) = error, !state.isDamaged else { throw error }
                report("cannot open the change journal; creating a new one", reason)
                JournalDatabase.remove(at: path)
                return try open()
            }
        } catch {
            throw .state(error)
        }
    }

    private func open() throws(StateError) -> JournalDatabase {
        try JournalDatabase(path: path, removalLimit: options.removalLimit) {
            var generator = SystemRandomNumberGenerator()
            let bits = (0..<32).map { _ in String(generator.next() & 15, radix: 16) }
            return bits.joined()
        }
    }

    /// Deactivates the journal after an error. The next query activates it again, with all committed changes;
    /// after an unexpected database error, it creates a new database instead.
    private func fail(_ state: inout State, _ error: JournalError) {
        if case .state(.failed) = error { state.isDamaged = state.core != nil }
        let isOpen = state.core != nil
        Self.closeCore(&state)
        let reason = error.text
        guard error != .interrupted, state.reported != reason else { return }
        state.reported = reason
        report(
            isOpen ? "change journal failed; restarting it" : "cannot open the change journal", reason)
    }

    private static func closeCore(_ state: inout State) {
        state.core = nil
        guard let thread = state.thread else { return }
        state.thread = nil
        thread.stop()
        // Each thread holds a system event queue, of which a user may only have a few.
        state.ended.removeAll { $0.hasEnded }
        state.ended.append(thread)
    }

    // MARK: Background work

    /// Runs on the watch thread: processes events and notifies listeners.
    private func recordEvents() {
        let listeners = state.withLock { state -> [@Sendable (Int64?) -> Void] in
            guard let core = state.core, core.drain() else { return [] }
            if core.startsOver { walk() }
            return state.listeners
        }
        for listener in listeners { listener(nil) }
    }

    /// Compares the entire share in short steps, with pauses of about the same length.
    private func walk() {
        guard options.walksInBackground else { return }
        if isWalking.exchange(true, ordering: .acquiring) { return }
        let isStarted = background.start { [self] in
            defer { isWalking.store(false, ordering: .releasing) }
            let pass = JournalPass(.root, isDeep: true)
            do throws(JournalError) {
                while try advance(pass) == nil {
                    SystemThread.sleep(milliseconds: Self.restMilliseconds)
                }
            } catch {
                // ``withCore(_:)`` has handled the error; the next query tries again.
                return
            }
        }
        if !isStarted { isWalking.store(false, ordering: .releasing) }
    }

    /// The pause between two steps: about as long as a step.
    private static let restMilliseconds = 25
}

extension ResourceChange {
    fileprivate init?(_ change: JournalDatabase.Change) {
        guard let path = change.folder.appending(change.name) else { return nil }
        let kind: Kind =
            change.isRemoved ? .removed : change.kind == .linkedCollection ? .linkedCollection : .changed
        self.init(
            number: change.number, path: path, kind: kind, isCollection: change.kind != .content)
    }
}

public import DavitFileStore
public import DavitHTTP
internal import DavitSQLite
public import DavitStore
internal import DavitSystem
internal import Synchronization

/// The change journal of a shared folder: see `docs/decisions/journal.md`.
///
/// It only looks on: davit's own changes come to it the way of everybody's. Until it is asked for the first time it has no
/// file, no thread, no watch and no row; from then on, also after a restart, it compares in the background what it knows with what
/// is there.
public final class ShareJournal: ChangeJournal {
    /// What a test may want otherwise.
    package struct Options: Sendable {
        /// Folders that are watched at most; all others are read anew whenever they are asked about.
        package var watchLimit = Int.max
        /// Removals that are remembered.
        package var removalLimit = 200_000
        /// Nanoseconds that one step of comparing takes, of several folders.
        package var step: Int64 = 25_000_000
        /// Whether what is asked for the first time, or after a restart, is compared in the background, too.
        package var walksInBackground = true

        package init() {}
    }

    /// Writes a line for the people who run the server: a constant text and a reason.
    public typealias Report = @Sendable (_ message: StaticString, _ reason: String) -> Void

    private struct State {
        var core: JournalCore?
        var thread: WatchThread?
        /// It ends when whoever it waits for is done.
        var ended: [WatchThread] = []
        /// The file is to be made anew.
        var isDamaged = false
        var reported = ""
        var listeners: [@Sendable (Int64?) -> Void] = []
        /// The last change that listeners were told of.
        var told: Int64 = 0
    }

    private let folder: FileResourceStore
    private let resources: any ResourceStore
    /// Nil for everything.
    private let rules: ShareRules?
    private let path: String
    private let background: BackgroundWork
    private let report: Report
    private let options: Options
    private let state = Mutex(State())
    private let isEnding = Atomic<Bool>(false)
    private let isWalking = Atomic<Bool>(false)

    /// Opens nothing.
    /// - Parameters:
    ///   - folder: what is watched.
    ///   - stateFolder: where `journal.sqlite` is kept. The caller keeps other servers out of it.
    ///   - background: for comparing while nobody waits.
    public convenience init(
        of folder: FileResourceStore, stateFolder: String, background: BackgroundWork,
        report: @escaping Report
    ) {
        self.init(
            of: folder, seenThrough: folder, stateFolder: stateFolder, background: background,
            options: Options(), report: report)
    }

    /// - Parameters:
    ///   - resources: through which the folder is looked at.
    ///   - rules: which names are served, and listed.
    package init(
        of folder: FileResourceStore, seenThrough resources: any ResourceStore,
        rules: ShareRules = ShareRules(),
        stateFolder: String, background: BackgroundWork, options: Options, report: @escaping Report
    ) {
        self.folder = folder
        self.rules = rules.areEmpty ? nil : rules
        self.resources = rules.areEmpty ? resources : RuledStore(resources, rules: rules)
        path = stateFolder + "/journal.sqlite"
        self.background = background
        self.options = options
        self.report = report
    }

    // MARK: The life of the server

    /// Begins where the last run has ended: asleep, or with comparing in the background. Returns at once.
    public func start() {
        isEnding.store(false, ordering: .relaxed)
        guard JournalDatabase.exists(at: path) else { return }
        walk()
    }

    /// Ends what is under way, at the next small step. Returns at once; calls from now on are `interrupted`.
    public func stop() { isEnding.store(true, ordering: .relaxed) }

    /// Records what was told of by events, closes the file, and waits for the thread. Blocks.
    public func close() {
        isEnding.store(true, ordering: .relaxed)
        state.withLock { state in
            state.core?.settleEvents()
            Self.fallAsleep(&state)
        }
        waitForThreads()
        state.withLock { $0.ended = [] }
    }

    /// Blocks until those have ended that were stopped.
    package func waitForThreads() {
        for thread in state.withLock({ $0.ended }) { thread.waitForEnd() }
    }

    /// Threads, and with each a queue of events, that it holds on to: for tests.
    package var threadCount: Int { state.withLock { $0.ended.count + ($0.thread == nil ? 0 : 1) } }

    // MARK: What others ask

    public func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        let (position, last) = try withCore { (core) throws(JournalError) in
            (try core.advance(pass), core.position.last)
        }
        tell(of: last)
        return position
    }

    /// Whoever asks takes the events of changes away from the thread, which then has nothing to tell of.
    private func tell(of last: Int64) {
        let listeners = state.withLock { state -> [@Sendable (Int64?) -> Void] in
            guard last != state.told else { return [] }
            state.told = last
            return state.listeners
        }
        for listener in listeners { listener(last) }
    }

    public func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange] {
        try withCore { (core) throws(JournalError) in
            // Between two pieces of an answer removals may have been forgotten.
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

    /// Members that were looked at since it is awake, rows passed without a key, and steps of SQLite's machine: for tests.
    package var costs: (looks: Int, scans: Int, steps: Int)? {
        state.withLock { state in
            state.core.map { ($0.looks, $0.database.scanSteps, $0.database.steps) }
        }
    }

    /// Whether it has a file open, a thread and watches.
    package var isAwake: Bool { state.withLock { $0.core != nil } }

    /// As if the system had dropped events.
    package func forgetEvents() { state.withLock { $0.core?.startOver() } }

    // MARK: Waking and falling asleep

    private func withCore<R: Sendable>(
        _ body: (JournalCore) throws(JournalError) -> R
    ) throws(JournalError) -> R {
        let result = state.withLock { state -> Result<R, JournalError> in
            // It stays as it is, so that ``close()`` can record what it has heard.
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
        let watch = FolderWatch(folder)
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
            return report("folders cannot be watched, and are read when somebody synchronises", "inotify")
        }
        do throws(SystemError) {
            state.thread = try WatchThread(watch) { [weak self] in self?.noteEvents() }
        } catch {
            throw .store(.busy)
        }
    }

    private func openDatabase(_ state: inout State) throws(JournalError) -> JournalDatabase {
        if state.isDamaged { JournalDatabase.remove(at: path) }
        do throws(StateError) {
            do throws(StateError) { return try open() } catch {
                guard case .failed(let reason) = error, !state.isDamaged else { throw error }
                report("the change journal cannot be read and is made anew", reason)
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

    /// After a fault it begins anew when it is asked again; what it had committed still stands.
    private func fail(_ state: inout State, _ error: JournalError) {
        if case .state(.failed) = error { state.isDamaged = state.core != nil }
        let isOpen = state.core != nil
        Self.fallAsleep(&state)
        let reason = "\(error)"
        guard error != .interrupted, state.reported != reason else { return }
        state.reported = reason
        report(
            isOpen ? "the change journal has stopped and begins anew" : "there is no change journal", reason)
    }

    private static func fallAsleep(_ state: inout State) {
        state.core = nil
        guard let thread = state.thread else { return }
        state.thread = nil
        thread.stop()
        // Each holds a queue of the system, of which a user has few.
        state.ended.removeAll { $0.hasEnded }
        state.ended.append(thread)
    }

    // MARK: The background

    /// The thread: takes the events, and tells who wants to know.
    private func noteEvents() {
        let listeners = state.withLock { state -> [@Sendable (Int64?) -> Void] in
            guard let core = state.core, core.drain() else { return [] }
            if core.startsOver { walk() }
            return state.listeners
        }
        for listener in listeners { listener(nil) }
    }

    /// Compares everything, a short time after the other, with as much rest between.
    private func walk() {
        guard options.walksInBackground else { return }
        if isWalking.exchange(true, ordering: .acquiring) { return }
        let isStarted = background.start { [self] in
            defer { isWalking.store(false, ordering: .releasing) }
            let pass = JournalPass(.root, isDeep: true)
            do throws(JournalError) {
                while try advance(pass) == nil {
                    Thread.sleep(milliseconds: Self.restMilliseconds)
                }
            } catch {
                // It has been reported; the next one who asks tries again.
                return
            }
        }
        if !isStarted { isWalking.store(false, ordering: .releasing) }
    }

    /// About as long as one step of the walk.
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

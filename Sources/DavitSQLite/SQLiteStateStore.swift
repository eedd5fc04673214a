internal import CSQLite
public import DavitHTTP
public import DavitStore
public import DavitWebDAV
internal import Synchronization

/// Stores the state in one SQLite database, `state.sqlite` in a separate folder. This is the server's default
/// store.
///
/// Concurrent transactions are combined into one commit; see ``GroupCommitQueue``.
public final class SQLiteStateStore: StateStore {
    /// The failures that committed changes survive.
    public enum Durability: Sendable {
        /// The end of the process, including crashes (`synchronous = NORMAL`).
        case processDeath
        /// Also a power loss: each commit waits for the disk (`synchronous = FULL`).
        case powerLoss
    }

    private let line: TransactionQueue
    private let writer: Writer
    private let readers: ReaderPool
    private let checks = Mutex(Checks())

    /// The writing connection and the mutex that protects it.
    private final class Writer: Sendable {
        let mutex: Mutex<GroupWriter>

        init(_ writer: sending GroupWriter) { mutex = Mutex(writer) }
    }

    /// Running integrity checks, which may take a long time.
    private struct Checks {
        var running: [RowReader] = []
        var areOver = false
    }

    /// Opens or creates the database. Creates the folder, with mode 0700, if its parent exists.
    ///
    /// The caller must ensure that no other server uses the folder.
    ///
    /// - Parameters:
    ///   - background: runs commits for which no thread waits, and checkpoints.
    ///   - idleReaders: the maximum number of idle reading connections.
    ///   - busyMilliseconds: how long a call waits while another process uses the database.
    ///   - onCommit: called before and after each commit, on the committing thread; for tests that end the
    ///     process at that point.
    /// - Throws: `failed` if the folder is not writable, if the file is damaged or not a state database, or
    ///   if a newer version wrote it; `outOfSpace`.
    public init(
        folder: String, durability: Durability = .processDeath, background: BackgroundWork = .immediate,
        idleReaders: Int = 4, busyMilliseconds: Int32 = 5000, onCommit: (@Sendable () -> Void)? = nil
    ) throws(StateError) {
        let path = folder + "/state.sqlite"
        func check(_ error: Int32) throws(StateError) {
            if error == 0 { return }
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "cannot write to state folder \(folder) (errno \(error))")
        }
        try check(unsafe davit_make_private_folder(folder))
        try DatabaseConnection.create(at: path) { (connection) throws(StateError) in
            try Schema.migrate(connection)
        }
        // An existing folder may be accessible to other users, but properties and lock tokens must not be. This
        // also finds out whether an existing file is writable.
        try check(unsafe davit_make_private_file(path))
        let writer = Writer(
            try GroupWriter(
                path: path, durability: durability, busyMilliseconds: busyMilliseconds,
                background: background, onCommit: onCommit))
        self.writer = writer
        line = TransactionQueue(background: background) { requests in
            writer.mutex.withLock { $0.commit(requests) }
        }
        readers = ReaderPool(path: path, busyMilliseconds: busyMilliseconds, idleLimit: idleReaders)
    }

    public func apply(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
    ) throws(StateError) {
        try line.perform(Transaction(changes: changes, publish: publish))
    }

    public func enqueue(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void,
        completion: @escaping @Sendable (StateError?) -> Void
    ) {
        line.submit(Transaction(changes: changes, publish: publish), completion: completion)
    }

    public func locks() throws(StateError) -> [(lock: Lock, binding: Binding)] {
        try readers.withReader { (reader) throws(StateError) in try reader.locks() }
    }

    public func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)] {
        try readers.withReader { (reader) throws(StateError) in try reader.pathsWithProperties() }
    }

    public func paths(with name: PropertyName) throws(StateError) -> [ResourcePath] {
        try readers.withReader { (reader) throws(StateError) in try reader.paths(with: name) }
    }

    public func intents() throws(StateError) -> [RenameIntent] {
        try readers.withReader { (reader) throws(StateError) in try reader.intents() }
    }

    public func uploads() throws(StateError) -> [UploadRecord] {
        try readers.withReader { (reader) throws(StateError) in try reader.uploads() }
    }

    public func trashTotals() throws(StateError) -> TrashTotals {
        try readers.withReader { (reader) throws(StateError) in try reader.trashTotals() }
    }

    public func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try readers.withReader { (reader) throws(StateError) in try reader.trash(after: number, limit: limit)
        }
    }

    public func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        try readers.withReader { (reader) throws(StateError) in try reader.trashEntry(id) }
    }

    public func record(at path: ResourcePath) throws(StateError) -> PropertyRecord? {
        try readers.withReader { (reader) throws(StateError) in try reader.record(at: path) }
    }

    public func records(
        at paths: [ResourcePath], limitBytes: Int
    ) throws(StateError) -> [PropertyRecord?] {
        try readers.withReader { (reader) throws(StateError) in
            try reader.records(at: paths, limitBytes: limitBytes)
        }
    }

    public func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        try readers.withReader { (reader) throws(StateError) in try reader.records(under: path) }
    }

    // MARK: Maintenance

    /// Returns the problems found by an integrity check of the database, one line each; empty if there are
    /// none. Reads the entire file.
    ///
    /// - Throws: `failed` after ``endChecks()``.
    public func integrityCheck() throws(StateError) -> [String] {
        try readers.withReader { (reader) throws(StateError) in
            let mayBegin = checks.withLock { checks in
                if !checks.areOver { checks.running.append(reader) }
                return !checks.areOver
            }
            guard mayBegin else { throw Self.checkAborted }
            // An interrupted check reports the interruption as damage.
            let findings = Result { () throws(StateError) in try reader.integrityProblems() }
            let areOver = checks.withLock { checks in
                checks.running.removeAll { $0 === reader }
                return checks.areOver
            }
            if areOver { throw Self.checkAborted }
            return try findings.get()
        }
    }

    private static let checkAborted = StateError.failed(
        reason: "the integrity check was aborted because the server is stopping")

    /// Allows ``integrityCheck()`` again after ``endChecks()``, for a server that is restarted.
    public func allowChecks() { checks.withLock { $0.areOver = false } }

    /// Aborts ``integrityCheck()`` on all threads and refuses further checks until ``allowChecks()``. For
    /// server shutdown.
    public func endChecks() {
        checks.withLock { checks in
            checks.areOver = true
            for reader in checks.running { reader.interrupt() }
        }
    }

    /// Runs a full checkpoint, for server shutdown. Closing the last connection has the same effect.
    public func checkpoint() throws(StateError) {
        try writer.mutex.withLock { (writer) throws(StateError) in try writer.checkpoint() }
    }

    /// Commits a transaction that changes nothing but writes a page, to find out whether changes can be stored.
    /// Blocks.
    /// - Throws: `failed` if the database cannot be written; `outOfSpace`.
    public func checkWritable() throws(StateError) {
        try writer.mutex.withLock { (writer) throws(StateError) in
            try writer.execute("PRAGMA application_id = 0")
        }
    }

    /// The number of statements for changes that SQLite does not accept.
    package var invalidStatementCount: Int { writer.mutex.withLock { $0.invalidStatementCount } }

    /// The number of full-scan steps and sorts, in all statements except those that read entire tables at
    /// startup.
    package var scanSteps: Int { writer.mutex.withLock { $0.scanSteps } + readers.scanSteps }

    /// The total cost of all changes so far, in steps of SQLite's virtual machine.
    package var steps: Int { writer.mutex.withLock { $0.steps } }

    /// Executes SQL on the writing connection, for tests that need a full or foreign database.
    package func execute(_ sql: StaticString) throws(StateError) {
        try writer.mutex.withLock { (writer) throws(StateError) in try writer.execute(sql) }
    }
}

internal import CSQLite
public import DavitHTTP
public import DavitStore
public import DavitWebDAV
internal import Synchronization

/// State in one SQLite database, `state.sqlite` in a folder of its own. The default of the server.
///
/// Transactions that are asked for at the same time become one commit; see ``GroupLine``.
public final class SQLiteStateStore: StateStore {
    /// What an answered change survives.
    public enum Durability: Sendable {
        /// The end of the process, however it ends (`synchronous = NORMAL`).
        case processDeath
        /// Also the loss of power: each commit waits for the disk (`synchronous = FULL`).
        case powerLoss
    }

    private let line: TransactionLine
    private let writer: Writer
    private let readers: ReaderPool
    private let checks = Mutex(Checks())

    /// The writing connection, and the mutex under which it is used.
    private final class Writer: Sendable {
        let mutex: Mutex<GroupWriter>

        init(_ writer: sending GroupWriter) { mutex = Mutex(writer) }
    }

    /// Integrity checks, which may take long.
    private struct Checks {
        var running: [RowReader] = []
        var areOver = false
    }

    /// Opens the database, or makes it, and the folder with mode 0700 if only its last name is missing.
    ///
    /// The caller keeps other servers out of the folder.
    ///
    /// - Parameters:
    ///   - background: where commits are made that nobody waits for with a thread of his own, and where the log is
    ///     copied back into the database.
    ///   - idleReaders: how many reading connections stay open.
    ///   - busyMilliseconds: how long a call waits while another process uses the database.
    ///   - onCommit: called before and after each commit, on the thread that commits; for tests that end the
    ///     process there.
    /// - Throws: `failed` if the folder cannot be written, if the file is damaged or no state, or if a newer
    ///   version wrote it; `outOfSpace`.
    public init(
        folder: String, durability: Durability = .processDeath, background: BackgroundWork = .immediate,
        idleReaders: Int = 4, busyMilliseconds: Int32 = 5000, onCommit: (@Sendable () -> Void)? = nil
    ) throws(StateError) {
        let path = folder + "/state.sqlite"
        // A folder that was there before may be open to others; properties and lock tokens must not be.
        for error in [unsafe davit_make_private_folder(folder), unsafe davit_make_private_file(path)]
        where error != 0 {
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "state folder \(folder): cannot be written (error \(error))")
        }
        let writer = Writer(
            try GroupWriter(
                path: path, durability: durability, busyMilliseconds: busyMilliseconds,
                background: background, onCommit: onCommit))
        self.writer = writer
        line = TransactionLine(background: background) { requests in
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

    public func intents() throws(StateError) -> [Intent] {
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

    // MARK: Care

    /// What is wrong with the database, one line each; empty if nothing is. Reads all of it.
    ///
    /// - Throws: `failed` after ``endChecks()``.
    public func integrityCheck() throws(StateError) -> [String] {
        try readers.withReader { (reader) throws(StateError) in
            checks.withLock { $0.running.append(reader) }
            // An interruption looks like damage to the check itself.
            let findings = Result { () throws(StateError) in try reader.integrityProblems() }
            let areOver = checks.withLock { checks in
                checks.running.removeAll { $0 === reader }
                return checks.areOver
            }
            if areOver { throw .failed(reason: "the check was ended") }
            return try findings.get()
        }
    }

    /// Allows ``integrityCheck()`` again after ``endChecks()``. For a server that starts once more.
    public func allowChecks() { checks.withLock { $0.areOver = false } }

    /// Ends ``integrityCheck()`` on all threads, for good; nothing else. For the end of a server.
    public func endChecks() {
        checks.withLock { checks in
            checks.areOver = true
            for reader in checks.running { reader.interrupt() }
        }
    }

    /// Writes the WAL back into the database; for the end of a server. Closing the last connection does it too.
    public func checkpoint() throws(StateError) {
        try writer.mutex.withLock { (writer) throws(StateError) in try writer.checkpoint() }
    }

    /// Rows passed without a key, and sorts, in all statements but those that read everything at start.
    package var scanSteps: Int { writer.mutex.withLock { $0.scanSteps } + readers.scanSteps }

    /// What all changes so far have cost, in steps of SQLite's machine.
    package var steps: Int { writer.mutex.withLock { $0.steps } }

    /// Runs a statement on the writing connection: for tests that need a full or a foreign database.
    package func execute(_ sql: StaticString) throws(StateError) {
        try writer.mutex.withLock { (writer) throws(StateError) in try writer.execute(sql) }
    }
}

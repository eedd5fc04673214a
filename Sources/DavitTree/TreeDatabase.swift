#if Postgres
package import DavitBlobs
package import DavitHTTP
package import DavitPostgres
package import DavitStore
package import DavitSystem
internal import Synchronization

/// A share whose resources are rows of a database.
///
/// Any number of nodes serve the same share. Calls of ``TreeStore`` and ``TreeState`` on a thread that runs a unit of calls,
/// see `StoreSessions`, belong to that unit; others are units of their own.
package final class TreeDatabase: Sendable {
    let pool: PostgresPool
    /// The id of the share.
    let share: Int64
    /// The ids of the collections that contain the resources of the share, its trash, and what is being removed.
    let files: Int64
    let trash: Int64
    let removed: Int64
    /// The id of this node.
    let node: Int64
    /// Where content is that is not small.
    let blobs: any BlobStore
    let periods: TreePeriods
    /// Staged blobs that will not be published.
    let abandoned = Mutex<[Int64]>([])
    /// The uploads that this node receives.
    let turns = Mutex(OpenTurns())
    /// Notifies other nodes of changes.
    private let notifier: PostgresNotifier
    private let notifierThread = NotifierThread()
    /// Called with locks that were created or removed, by any node.
    let lockHandlers = Mutex<[@Sendable ([Lock]) -> Void]>([])
    /// Nil if rights do not depend on the database.
    private let rightsCheck = AtomicLazyReference<RightsCheck>()
    /// The longest time that a change or a read takes, from waiting for a connection to the last answer.
    private let timeLimit: Duration
    /// Identifies the database.
    private let id: BlobKey
    let report: @Sendable (String) -> Void
    private let sessions = ThreadValue<TreeSession>()
    private let openings: TreeOpenings
    /// The number of bytes of all content, and when it is read again.
    let usedBytes = Mutex<(bytes: Int64, validUntil: ContinuousClock.Instant)?>(nil)
    /// The end of the pause in which further failures are not reported.
    private let reportPause = Mutex<ContinuousClock.Instant?>(nil)

    /// The name of the collection of the trash, which clients can neither see nor use.
    static let trashName = Array(".davit-trashofthisshare".utf8)

    /// Opens a share, and creates it if the database has none of this name.
    ///
    /// - Parameters:
    ///   - pool: whose connections have been prepared by ``PostgresMigration/attach(_:until:)``.
    ///   - threads: on which to read what requests open.
    ///   - name: the name of the share in the database.
    ///   - blobs: where content is that is not small. It must not belong to another database.
    ///   - nodeName: describes this process to administrators.
    ///   - timeLimit: for each unit of calls that reads or changes something.
    ///   - report: reports failures of the database, as a line for the log.
    package init(
        _ pool: PostgresPool, threads: BlockingPool, share name: String, blobs: any BlobStore,
        nodeName: String,
        timeLimit: Duration = .seconds(10), periods: TreePeriods = TreePeriods(),
        report: @escaping @Sendable (String) -> Void
    ) throws(PostgresError) {
        self.pool = pool
        openings = TreeOpenings(threads, connections: pool.settings.connections)
        self.timeLimit = timeLimit
        self.periods = periods
        self.blobs = blobs
        self.report = report
        let now = Clock.wallNow()
        let opened = try pool.transaction(until: .now + timeLimit) { transaction throws(PostgresError) in
            var batch = PostgresBatch()
            batch.add("INSERT INTO share (name) VALUES ($1) ON CONFLICT (name) DO NOTHING", .text(name))
            // The accounts apply to it, too.
            batch.add(
                """
                INSERT INTO access_generation (share, generation)
                SELECT s.id, a.generation FROM share s, (SELECT generation FROM account_generation FOR SHARE) a
                WHERE s.name = $1 ON CONFLICT (share) DO NOTHING
                """, .text(name))
            batch.add(
                """
                INSERT INTO resource (id, share, parent, key, name, kind, modified, created) OVERRIDING USER VALUE
                SELECT 0, s.id, 0, root.name, root.name, 0, $2, $2
                FROM share s, unnest($3::bytea[]) AS root (name) WHERE s.name = $1
                ON CONFLICT (share, parent, key) DO NOTHING
                """, .text(name), .integer(now),
                .byteStrings([Array("files".utf8), Self.trashName, Array("removed".utf8)]))
            batch.add(
                """
                SELECT s.id, (SELECT id FROM resource WHERE share = s.id AND parent = 0 AND key = 'files'),
                    (SELECT id FROM resource WHERE share = s.id AND parent = 0 AND key = $2),
                    (SELECT id FROM resource WHERE share = s.id AND parent = 0 AND key = 'removed')
                FROM share s WHERE s.name = $1
                """, .text(name), .bytes(Self.trashName))
            batch.add("INSERT INTO node (name) VALUES ($1) RETURNING id", .text(nodeName))
            batch.add("SELECT id FROM database")
            let results = try transaction.run(batch)
            let ids = try (0..<4).map { column throws(PostgresError) in try results[3].integer(0, column) }
            return .commit(
                (ids: ids, node: try results[4].integer(0, 0), database: try results[5].uuid(0, 0)))
        }
        (share, files, trash, removed) = (opened.ids[0], opened.ids[1], opened.ids[2], opened.ids[3])
        node = opened.node
        id = BlobKey(opened.database)
        let thread = notifierThread
        notifier = PostgresNotifier(pool, node: node) { thread.schedule($0, $1) }
    }

    /// What units of calls need to know of access rules that are in the database.
    package final class RightsCheck: Sendable {
        /// Returns the generation of the rules that are in effect on this node.
        let generation: @Sendable () -> Int64
        /// Puts the rules of the database into effect.
        let refresh: @Sendable () -> Void

        package init(
            generation: @escaping @Sendable () -> Int64, refresh: @escaping @Sendable () -> Void
        ) {
            self.generation = generation
            self.refresh = refresh
        }
    }

    /// Makes changes fail in which the rules of the database are no longer those that were in effect on this node when the unit
    /// began, because rights may have been decided with the old ones: another attempt uses the new ones. Calls that only
    /// read throw `rightsChanged`.
    ///
    /// Only the first call counts.
    package func checkRights(_ check: RightsCheck) { _ = rightsCheck.storeIfNil(check) }

    var rights: RightsCheck? { rightsCheck.load() }

    /// The connections.
    package var connections: PostgresPool { pool }
    package var shareID: Int64 { share }
    package var nodeID: Int64 { node }
    /// After how many seconds a node that was not seen is gone.
    package var nodeSeconds: Int64 { periods.nodeSeconds }

    /// Ends the threads of this object.
    package func stop() { notifierThread.stop() }

    /// Notifies all nodes of changes, after they are committed.
    func notifyChange() { notifier.recordChange(of: share) }

    /// Makes the store of content belong to this database.
    /// - Throws: `failed` if it belongs to another one.
    package func claimBlobs() throws(BlobError) { try blobs.claim(for: id) }

    /// The time of the database; that of this node before the first answer.
    package var now: Timestamp { Timestamp(nanoseconds: pool.clock.now() ?? Clock.wallNow()) }

    var deadline: ContinuousClock.Instant { .now + timeLimit }

    /// Returns a new id of a row: the time in milliseconds, so that rows that are made together are together in indexes, and
    /// random bits. Two nodes rarely give one id twice; the database refuses the second one, and the change is tried again.
    func makeID() -> Int64 {
        let milliseconds = UInt64(bitPattern: now.nanoseconds / 1_000_000)
        return Int64((milliseconds & ((1 << 42) - 1)) << 21 | UInt64.random(in: 0..<(1 << 21)))
    }

    /// Returns the id of the collection at which the names of a path begin, and the names below it.
    func root(of path: ResourcePath) -> (id: Int64, rest: ResourcePath) {
        guard path.bytes.starts(with: Self.trashName) else { return (files, path) }
        let rest = path.bytes.dropFirst(Self.trashName.count)
        if rest.isEmpty { return (trash, .root) }
        guard rest.first == UInt8(ascii: "/") else { return (files, path) }
        return (trash, ResourcePath(segments: rest.dropFirst().split(separator: UInt8(ascii: "/"))) ?? .root)
    }

    /// Whether clients cannot use a path.
    func isReserved(_ path: ResourcePath) -> Bool { root(of: path).id == trash }

    // MARK: Units of calls

    /// Whether the present thread runs a unit of calls that opens a path without reading anything.
    var isPrepared: Bool { sessions.current?.prepared != nil }

    /// Whether the present thread runs a unit of calls.
    var isInUnit: Bool { sessions.current != nil }

    /// Runs calls in the unit of the present thread, or in one of their own.
    func session<T>(_ body: (TreeSession) throws(StoreError) -> T) throws(StoreError) -> T {
        if let current = sessions.current { return try body(current) }
        let session = TreeSession(self, nil)
        do throws(StoreError) { return try body(session) } catch {
            if let failure = session.failure { reportFailure(failure) }
            throw error
        }
    }

    private func reportFailure(_ failure: PostgresError) {
        if failure.kind == .retry { return }
        reportSometimes("the database cannot be used: \(failure.message)")
    }

    /// Reports that content could not be stored, because the response does not contain the reason.
    func failure(storing error: BlobError) -> StoreError {
        switch error {
        case .unavailable(let reason), .failed(let reason):
            reportSometimes("content cannot be stored: \(reason)")
        case .notFound: reportSometimes("content cannot be stored: its place does not exist")
        case .outOfSpace, .inUse: break
        }
        return StoreError(error)
    }

    /// Returns `busy` if only the copy of an object lacks space, because there may be some later; reports this, because the
    /// response does not contain the reason.
    func failure(reading error: BlobError) -> StoreError {
        guard error == .outOfSpace else { return StoreError(error) }
        reportSometimes("content cannot be read: there is no space for copies of objects")
        return .busy
    }

    private func reportSometimes(_ line: String) {
        let isDue = reportPause.withLock { end in
            if let end, ContinuousClock.now < end { return false }
            end = .now + .seconds(10)
            return true
        }
        if isDue { report(line) }
    }
}

extension TreeDatabase: StoreSessions {
    package func run<Value>(_ body: () -> Value) throws(StoreSessionError) -> Value {
        if sessions.current != nil { return body() }
        let session = TreeSession(self, nil)
        defer { finish(session.actions) }
        let value = sessions.with(session) { body() }
        guard let failure = session.failure else { return value }
        throw sessionError(failure)
    }

    package func whenPrepared<Value>(toOpen path: ResourcePath, _ body: () -> Value) async -> Value? {
        let generation = rights?.generation()
        guard let answer = await openings.opening(path, in: self), let opening = answer.opening,
            answer.generation == generation
        else { return nil }
        let session = TreeSession(self, nil, prepared: opening)
        let value = sessions.with(session) { body() }
        return session.failure == nil ? value : nil
    }

    package func refreshRights() async {
        guard let rights else { return }
        let generation = await openings.generation(in: self)
        if generation == rights.generation() { return }
        // Without the database, the calls that follow fail.
        await openings.run { rights.refresh() }
    }

    package func change<Value>(
        _ uses: [PathUse], _ body: () -> (value: Value, commits: Bool)
    ) throws(StoreSessionError) -> Value {
        var locks = PostgresPathLocks(share: share)
        for use in uses {
            let (root, rest) = root(of: use.path)
            // The trash is a path of its own, which no name of the share equals.
            let keys = (root == trash ? [Self.trashName] : []) + TreeKey.keys(of: rest)
            if use.isExclusive { locks.addChange(of: keys) } else { locks.addUse(of: keys) }
        }
        var begin = PostgresBatch()
        locks.add(to: &begin)
        var actions: [() -> Void] = []
        defer { finish(actions) }
        do throws(PostgresError) {
            var hasChanges = false
            let value = try pool.transaction(until: deadline, attempts: 1) {
                transaction throws(PostgresError) -> PostgresDecision<Value> in
                let session = TreeSession(self, transaction, begin: begin)
                defer { actions = session.actions }
                let result = sessions.with(session) { body() }
                if let failure = session.failure { throw failure }
                guard result.commits else { return .rollback(result.value) }
                hasChanges = session.hasChanges
                transaction.last.add(session.unsent)
                return .commit(result.value)
            }
            if hasChanges { notifyChange() }
            return value
        } catch {
            throw sessionError(error)
        }
    }

    /// Runs the actions of a unit that has ended. The unit around it continues with the rules that they leave.
    private func finish(_ actions: [() -> Void]) {
        for action in actions {
            sessions.current?.acceptRights()
            action()
            sessions.current?.acceptRights()
        }
    }

    package func afterUnit(_ action: @escaping () -> Void) -> Bool {
        guard let session = sessions.current else { return false }
        session.actions.append(action)
        // The unit itself has begun to move rules.
        session.acceptRights()
        return true
    }

    private func sessionError(_ failure: PostgresError) -> StoreSessionError {
        switch failure.kind {
        // A constraint: two nodes gave the same id, or created the same name.
        case .retry, .constraint: return .conflict
        default:
            reportFailure(failure)
            return .failed(StoreError(failure))
        }
    }
}
#endif

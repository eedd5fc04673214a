import DavitHTTP
import DavitSQLite
import DavitStore
import DavitSystem
import DavitWebDAV
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

func path(_ text: String) -> ResourcePath {
    ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))) ?? .root
}

let identity = ResourceIdentity(inode: 1, birth: 2)

/// Returns the changes that bind the path `text` and set one property on it.
func setting(_ text: String, _ value: String = "1", bytes: Int = 0) -> [StateChange] {
    let element = Array("<p>\(value)</p>".utf8) + Array(repeating: UInt8(ascii: " "), count: bytes)
    let property = StoredProperty(name: .init(namespace: "", local: "p"), value: .init(element: element))
    return [
        .bind(path(text), current: identity, pending: nil),
        .setProperty(path(text), property),
    ]
}

func adding(_ token: String, to text: String) -> [StateChange] {
    let lock = Lock(
        token: LockToken(uri: token), root: path(text), depth: .infinity, scope: .shared, owner: nil,
        principal: nil, timeoutSeconds: 60, expiry: Timestamp(seconds: 60), rootHref: [])
    return [.bind(path(text), current: identity, pending: nil), .addLock(lock)]
}

/// Returns the error that `body` throws; nil if it succeeds.
func failure(of body: () throws(StateError) -> Void) -> StateError? {
    do throws(StateError) {
        try body()
        return nil
    } catch {
        return error
    }
}

func reason(of body: () throws(StateError) -> Void) -> String {
    if case .failed(let reason) = failure(of: body) { return reason }
    return ""
}

struct SQLiteStateStoreTests {
    // MARK: Opening

    @Test func newFolderIsAccessibleOnlyToItsOwner() throws {
        let folder = DatabaseFolder()
        let inner = folder.path + "/inner"
        var store: SQLiteStateStore? = try SQLiteStateStore(folder: inner)
        try store?.apply(setting("a"))
        #expect(DatabaseFolder.mode(of: inner) == 0o700)
        store = nil
        DatabaseFolder.remove(inner)
    }

    @Test func filesArePrivateInAPublicFolder() throws {
        let folder = DatabaseFolder()
        unsafe _ = chmod(folder.path, 0o755)
        #expect(DatabaseFolder.mode(of: folder.path) == 0o755)
        let store = try SQLiteStateStore(folder: folder.path)
        try store.apply(setting("a"))
        for name in DatabaseFolder.names.prefix(2) {
            #expect(DatabaseFolder.mode(of: folder.path + name) == 0o600)
        }
        // The index of the log is in process memory, so locking it needs no system calls.
        #expect(DatabaseFolder.mode(of: folder.path + DatabaseFolder.names[2]) == 0)
    }

    /// What remains of a removed database, or of one whose creation was interrupted, does not become part of a
    /// new one.
    @Test(arguments: [nil, []] as [[UInt8]?])
    func remainsAreNotUsed(database: [UInt8]?) throws {
        let folder = DatabaseFolder()
        let old = try SQLiteStateStore(folder: folder.path)
        try old.apply(setting("a"))
        let image = folder.image()
        let remains = image.image()
        #expect(try SQLiteStateStore(folder: image.path).pathsWithProperties().map(\.path) == [path("a")])
        unsafe _ = unlink(remains.database)
        if let database { DatabaseFolder.write(database, to: remains.database) }
        DatabaseFolder.write([1, 2, 3], to: remains.database + ".new")
        let new = try SQLiteStateStore(folder: remains.path)
        #expect(try new.pathsWithProperties().isEmpty)
        #expect(DatabaseFolder.read(remains.database + ".new") == nil)
        #expect(DatabaseFolder.mode(of: remains.database) == 0o600)
        try new.apply(setting("b"))
        #expect(try new.pathsWithProperties().map(\.path) == [path("b")])
        #expect(try new.integrityCheck() == [])
    }

    @Test func errorNamesTheFolderThatCannotBeCreated() {
        let why = reason { () throws(StateError) in _ = try SQLiteStateStore(folder: "/nowhere/at/all") }
        #expect(why.contains("/nowhere/at/all"))
    }

    @Test func newerSchemaIsRefusedAndUnchanged() throws {
        let folder = DatabaseFolder()
        try SQLiteStateStore(folder: folder.path).execute("PRAGMA user_version = 99")
        for _ in 0..<2 {
            let why = reason { () throws(StateError) in _ = try SQLiteStateStore(folder: folder.path) }
            #expect(why.contains("99") && why.contains("newer"))
        }
    }

    @Test func databaseOfAnotherProgramIsRefused() throws {
        let folder = DatabaseFolder()
        let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        try connection.execute("CREATE TABLE song (title TEXT)")
        let why = reason { () throws(StateError) in _ = try SQLiteStateStore(folder: folder.path) }
        #expect(why.contains("is not a davit database"))
        #expect(try connection.texts("SELECT name FROM sqlite_schema") == ["song"])
    }

    /// Dead properties of earlier versions that are now computed are removed; everything else is kept.
    @Test func propertiesThatBecameLiveAreDeleted() throws {
        let folder = DatabaseFolder()
        let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        try Schema.migrate(connection, migrations: Array(Schema.migrations[..<2]))
        try connection.execute(
            """
            INSERT INTO resource VALUES
                (x'2F', x'61', 1, 2, NULL, NULL), (x'2F', x'62', 1, 2, NULL, NULL), (x'2F', x'63', 1, 2, NULL, NULL);
            INSERT INTO property VALUES
                (x'2F', x'61', 'urn:schemas-microsoft-com:', 'Win32LastModifiedTime', x'3C612F3E'),
                (x'2F', x'62', 'urn:schemas-microsoft-com:', 'Win32LastModifiedTime', x'3C612F3E'),
                (x'2F', x'62', 'urn:schemas-microsoft-com:', 'Win32FileAttributes', x'3C612F3E'),
                (x'2F', x'62', 'urn:x', 'lastmodified', x'3C612F3E');
            INSERT INTO lock VALUES (x'2F', x'63', 'urn:uuid:1', 1, 0, 1, NULL, NULL, 60, 60000000000, x'2F63');
            INSERT INTO intent VALUES (4, x'61', x'61', 1, 2, NULL, NULL, 0, NULL, NULL, NULL, 1);
            """)
        let store = try SQLiteStateStore(folder: folder.path)
        #expect(
            try store.pathsWithProperties().map(\.path) == [path("b")])
        #expect(
            try store.record(at: path("b"))?.properties.map(\.name.local)
                == ["Win32FileAttributes", "lastmodified"])
        #expect(try store.locks().map(\.lock.root) == [path("c")])
        #expect(try connection.integer("SELECT count(*) FROM resource") == 2)
        #expect(try store.intents().map(\.attributes) == [ResourceAttributes(isExecutable: true)])
        #expect(try store.integrityCheck() == [])
    }

    @Test func migrationIsAtomic() throws {
        let folder = DatabaseFolder()
        let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        let first: StaticString = "CREATE TABLE a (x); INSERT INTO a VALUES (7); PRAGMA user_version = 1"
        try Schema.migrate(connection, migrations: [first])
        let second: StaticString = "ALTER TABLE a RENAME TO b; PRAGMA user_version = 2"
        let broken: StaticString = "CREATE TABLE c (x); CREATE TABLE c (x); PRAGMA user_version = 3"
        #expect(throws: StateError.self) {
            try Schema.migrate(connection, migrations: [first, second, broken])
        }
        // The migration that succeeded has been rolled back, too.
        #expect(try connection.integer("PRAGMA user_version") == 1)
        #expect(try connection.texts("SELECT name FROM sqlite_schema") == ["a"])
        try Schema.migrate(connection, migrations: [first, second])
        #expect(try connection.integer("PRAGMA user_version") == 2)
        #expect(try connection.integer("SELECT x FROM b") == 7)
        // No migration is left to run.
        try Schema.migrate(connection, migrations: [first, second])
    }

    @Test func lastMigrationSetsTheNewestVersion() throws {
        let folder = DatabaseFolder()
        _ = try SQLiteStateStore(folder: folder.path)
        let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        #expect(try connection.integer("PRAGMA user_version") == Int64(Schema.migrations.count))
        #expect(try connection.texts("PRAGMA journal_mode") == ["wal"])
    }

    /// Version 1 stored locks in a different table format.
    @Test func locksOfVersionOneAreKept() throws {
        let folder = DatabaseFolder()
        do {
            let connection = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
            try Schema.migrate(connection, migrations: Array(Schema.migrations.prefix(1)))
            try connection.execute(
                """
                INSERT INTO resource VALUES (x'2F', x'61', 1, 2, NULL, NULL);
                INSERT INTO lock VALUES (7, 'urn:b', x'2F', x'61', 1, 0, NULL, 'anna', 60, 70000000000, x'2F61');
                INSERT INTO lock VALUES (9, 'urn:a', x'2F', x'61', 1, 0, NULL, NULL, 60, 80000000000, x'2F61');
                """)
        }
        let store = try SQLiteStateStore(folder: folder.path)
        try store.apply(adding("urn:0", to: "a"))
        let locks = try store.locks().map(\.lock)
        #expect(locks.map(\.token.uri) == ["urn:b", "urn:a", "urn:0"])
        #expect(locks[0].principal == "anna" && locks[0].root == path("a"))
        #expect(locks.map(\.expiry) == [70, 80, 60].map { Timestamp(seconds: $0) })
        // Version 1 did not store the creation time.
        #expect(locks.map(\.created) == [nil, nil, nil])
        #expect(try store.integrityCheck() == [])
    }

    /// The log is checkpointed between commits, and restarts from the beginning.
    @Test func logSizeIsBounded() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        for number in 0..<3_000 { try store.apply(setting("a/\(number % 10)", "\(number)", bytes: 2_000)) }
        let log = try #require(DatabaseFolder.read(folder.path + "/state.sqlite-wal"))
        #expect(log.count < 2_000 * 4_200)
    }

    // MARK: Faults

    @Test func fileThatIsNotADatabaseIsRefused() {
        let folder = DatabaseFolder()
        DatabaseFolder.write(Array(repeating: 0x41, count: 8192), to: folder.database)
        let why = reason { () throws(StateError) in _ = try SQLiteStateStore(folder: folder.path) }
        #expect(why.contains("not a database"))
    }

    @Test func onlyChecksAreInterrupted() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        for number in 0..<100 { try store.apply(setting("a/\(number)", bytes: 500)) }
        let reasons = Mutex<[String]>([])
        let haveChecked = Latch(count: 2)
        withThreads(3) { number in
            if number == 0 {
                haveChecked.wait()
                return store.endChecks()
            }
            // An interrupted check does not report damage. The checks run one after the other until they are
            // refused, so that one of them is usually interrupted.
            let why = reason { () throws(StateError) in
                var findings = try store.integrityCheck()
                haveChecked.countDown()
                while findings.isEmpty { findings = try store.integrityCheck() }
            }
            reasons.withLock { $0.append(why) }
        }
        let aborted = "the integrity check was aborted because the server is stopping"
        #expect(reasons.withLock { $0 } == [aborted, aborted])
        try store.apply(setting("a/last"))
        #expect(try store.records(under: path("a")).count == 101)
    }

    @Test func damagedPageIsDetected() throws {
        let folder = DatabaseFolder()
        do {
            let store = try SQLiteStateStore(folder: folder.path)
            for number in 0..<400 { try store.apply(setting("a/\(number)", bytes: 500)) }
            #expect(try store.integrityCheck() == [])
            try store.checkpoint()
        }
        var bytes = try #require(DatabaseFolder.read(folder.database))
        #expect(bytes.count > 40 * 4096)
        for offset in (30 * 4096)..<(31 * 4096) { bytes[offset] = 0xAA }
        DatabaseFolder.write(bytes, to: folder.database)
        let store = try SQLiteStateStore(folder: folder.path)
        #expect(try !store.integrityCheck().isEmpty)
        let why = reason { () throws(StateError) in _ = try store.records(under: .root) }
        #expect(why.contains("malformed"))
    }

    @Test func busyDatabaseIsReported() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path, busyMilliseconds: 0)
        let other = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        let why = reason { () throws(StateError) in try store.apply(setting("a")) }
        #expect(why.contains("locked"))
        // Readers are not blocked, and writes resume when the other connection is done.
        #expect(try store.record(at: path("a")) == nil)
        try other.execute("ROLLBACK")
        try store.apply(setting("a"))
        #expect(try store.record(at: path("a")) != nil)
    }

    /// The check for the health of the server must write, because reading succeeds also on a full or read-only disk.
    @Test func checkFailsWhileTheDatabaseCannotBeWritten() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path, busyMilliseconds: 0)
        try store.apply(setting("a"))
        try store.checkWritable()
        let other = try DatabaseConnection(path: folder.database, busyMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        #expect(reason { () throws(StateError) in try store.checkWritable() }.contains("locked"))
        try other.execute("ROLLBACK")
        try store.checkWritable()
        try store.execute("PRAGMA query_only = ON")
        #expect(reason { () throws(StateError) in try store.checkWritable() }.contains("readonly"))
        try store.execute("PRAGMA query_only = OFF")
        #expect(try store.record(at: path("a")) != nil)
    }

    @Test func fullDiskIsReportedAndChangesNothing() throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path)
        try store.apply(setting("a", "old"))
        try store.execute("PRAGMA max_page_count = 20")
        let error = failure { () throws(StateError) in
            try store.apply(setting("a", "new") + setting("b", bytes: 1_000_000))
        }
        #expect(error == .outOfSpace)
        #expect(try store.record(at: path("a"))?.properties.first?.value.element == Array("<p>old</p>".utf8))
        try store.apply(setting("a", "new"))
        #expect(try store.record(at: path("a"))?.properties.first?.value.element == Array("<p>new</p>".utf8))
    }

    // MARK: Durability

    @Test func commitIsAtomicAfterACrash() throws {
        let folder = DatabaseFolder()
        let images = Mutex<[DatabaseFolder]>([])
        let store = try SQLiteStateStore(folder: folder.path) {
            let image = folder.image()
            images.withLock { $0.append(image) }
        }
        try store.apply(setting("a") + adding("urn:1", to: "a"))
        try store.apply(setting("b") + [.moveRows(from: path("a"), to: path("c"))])
        let expected: [(paths: Set<ResourcePath>, lockCount: Int)] = [
            ([], 0), ([path("a")], 1), ([path("a")], 1), ([path("b"), path("c")], 0),
        ]
        let taken = images.withLock { $0 }
        try #require(taken.count == expected.count)
        for (image, expected) in zip(taken, expected) {
            let found = try SQLiteStateStore(folder: image.path)
            #expect(try Set(found.records(under: .root).map(\.path)) == expected.paths)
            #expect(try found.locks().count == expected.lockCount)
            #expect(try found.integrityCheck() == [])
        }
    }

    @Test func closingCheckpointsTheLog() throws {
        let folder = DatabaseFolder()
        var store: SQLiteStateStore? = try SQLiteStateStore(folder: folder.path)
        try store?.apply(setting("a"))
        #expect(try store?.record(at: path("a")) != nil)
        #expect(DatabaseFolder.read(folder.path + "/state.sqlite-wal") != nil)
        try store?.checkpoint()
        #expect(DatabaseFolder.read(folder.path + "/state.sqlite-wal") == [])
        store = nil
        #expect(DatabaseFolder.read(folder.path + "/state.sqlite-wal") == nil)
        #expect(try SQLiteStateStore(folder: folder.path).record(at: path("a")) != nil)
    }

    @Test(arguments: [SQLiteStateStore.Durability.processDeath, .powerLoss])
    func concurrentCommitsAreAllKept(_ durability: SQLiteStateStore.Durability) throws {
        let folder = DatabaseFolder()
        let store = try SQLiteStateStore(folder: folder.path, durability: durability)
        let published = Mutex<[Int]>([])
        let failures = Mutex<[StateError]>([])
        withThreads(8) { thread in
            for step in 0..<50 {
                let why = failure { () throws(StateError) in
                    // Every fifth transaction is refused, regardless of its group.
                    let refused: [StateChange] = step % 5 == 4 ? [.moveRows(from: .root, to: .root)] : []
                    try store.apply(setting("t\(thread)/\(step)", bytes: 100) + refused) { _ in
                        published.withLock { $0.append(thread * 50 + step) }
                    }
                    _ = try store.records(at: [path("t\(thread)/0"), path("t0/\(step)")])
                }
                if let why { failures.withLock { $0.append(why) } }
            }
        }
        #expect(failures.withLock { $0 } == Array(repeating: .overlap(.root, .root), count: 80))
        let numbers = published.withLock { $0 }
        #expect(Set(numbers).count == 320 && numbers.count == 320)
        // Each thread sees its own changes in order.
        for thread in 0..<8 {
            let own = numbers.filter { $0 / 50 == thread }
            #expect(own == own.sorted())
        }
        #expect(try store.records(under: .root).count == 320)
        #expect(try store.integrityCheck() == [])
    }
}

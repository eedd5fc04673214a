#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization

func testPathLocks(_ info: String) throws {
    let first = try PostgresConnection(info, until: soon)
    let second = try PostgresConnection(info, until: soon)
    try second.run("SET lock_timeout = 1", until: soon)
    func names(_ path: String) -> [[UInt8]] { path.split(separator: "/").map { Array($0.utf8) } }
    func take(_ locks: PostgresPathLocks, _ connection: PostgresConnection) throws(PostgresError) {
        var batch = PostgresBatch()
        batch.add("BEGIN")
        locks.add(to: &batch)
        _ = try connection.run(batch, until: soon)
    }
    func isFree(_ locks: PostgresPathLocks) throws -> Bool {
        let failure = failure { () throws(PostgresError) in try take(locks, second) }
        try second.run("ROLLBACK", until: soon)
        expect(failure == nil || failure?.kind == .busy, "a lock that is not granted in time")
        return failure == nil
    }
    func change(_ path: String, share: Int64 = 1) -> PostgresPathLocks {
        var locks = PostgresPathLocks(share: share)
        locks.addChange(of: names(path))
        return locks
    }
    func use(_ path: String) -> PostgresPathLocks {
        var locks = PostgresPathLocks(share: 1)
        locks.addUse(of: names(path))
        return locks
    }
    try take(change("a/b"), first)
    for path in ["a/b", "a/b/c", "a", ""] { expect(try !isFree(change(path)), "a change excludes '\(path)'") }
    for path in ["a/c", "c", "a/bc", "ab"] {
        expect(try isFree(change(path)), "a change does not exclude '\(path)'")
    }
    expect(try isFree(change("a/b", share: 2)), "a change does not exclude another share")
    expect(
        try !isFree(use("a/b/c")) && !isFree(use("a/b")) && isFree(use("a")) && isFree(use("b")),
        "a change excludes what is used")
    try first.run("ROLLBACK", until: soon)
    expect(try isFree(change("a/b")), "the end of the transaction frees the locks")
    try take(use("a"), first)
    expect(try isFree(use("a")) && !isFree(change("a")) && !isFree(change("")), "what is used is not changed")
    expect(try isFree(change("a/b")) && isFree(change("b")), "members of what is used may change")
    try first.run("ROLLBACK", until: soon)

    var both = change("x/y")
    both.addUse(of: names("x/y"))
    both.addChange(of: names("x"))
    let keys = both.keys
    expect(keys.count == 3 && keys.filter(\.isExclusive).count == 2, "one lock for each path")
    expect(keys.map(\.key) == keys.map(\.key).sorted(), "locks are taken in order")
    let deep = [[UInt8]](repeating: [120], count: 5000)
    var locks = PostgresPathLocks(share: 1)
    locks.addChange(of: deep)
    expect(locks.keys.count == PostgresPathLocks.depthLimit + 1, "the number of locks is limited")
    try take(locks, first)
    locks = PostgresPathLocks(share: 1)
    locks.addChange(of: deep.prefix(4999))
    expect(try !isFree(locks), "deep paths exclude each other")
    try first.run("ROLLBACK", until: soon)
    try testExclusion(info, first)
}

/// Transactions that read and then write, without locks on rows.
private func testExclusion(_ info: String, _ admin: PostgresConnection) throws {
    try admin.run("CREATE TABLE public.sum(value int)", until: soon)
    try admin.run("INSERT INTO public.sum VALUES (0)", until: soon)
    let pool = makePool(info) { $0.connections = 4 }
    defer { pool.close() }
    let jobs = try (0..<8).map { _ in
        try Job {
            for _ in 0..<25 {
                let error = failure { () throws(PostgresError) in
                    try pool.transaction(until: soon) { transaction throws(PostgresError) in
                        var locks = PostgresPathLocks(share: 1)
                        locks.addChange(of: [Array("file".utf8)])
                        var batch = PostgresBatch()
                        locks.add(to: &batch)
                        batch.add("SELECT value FROM public.sum")
                        let value = try transaction.run(batch)[1].integer(0, 0)
                        transaction.last.add("UPDATE public.sum SET value = $1", .integer(value + 1))
                        return .commit(())
                    }
                }
                expect(error == nil, "a transaction with a path lock")
            }
        }
    }
    for job in jobs { job.wait() }
    expect(
        try admin.run("SELECT value FROM public.sum", until: soon).integer(0, 0) == 200, "no update is lost")
}

func testClock(_ info: String) throws {
    let clock = PostgresClock()
    let start = ContinuousClock.now
    expect(clock.now() == nil && clock.isStale(), "no reading yet")
    clock.record(1_000_000_000, sent: start, received: start + .milliseconds(20))
    expect(
        clock.now(start + .milliseconds(10)) == 1_000_000_000,
        "the reading belongs to the middle of the round trip")
    expect(clock.now(start + .seconds(5)) == 5_990_000_000, "the clock runs")
    clock.record(7_000_000_000, sent: start, received: start + .milliseconds(30))
    expect(clock.now(start + .milliseconds(10)) == 1_000_000_000, "a less exact reading is ignored")
    clock.record(7_000_000_000, sent: start, received: start + .milliseconds(10))
    expect(clock.now(start + .milliseconds(5)) == 7_000_000_000, "a more exact reading is taken")
    expect(
        !clock.isStale(start + .seconds(9)) && clock.isStale(start + .seconds(11)), "a reading becomes old")
    clock.record(20_000_000_000, sent: start + .seconds(11), received: start + .seconds(13))
    expect(clock.now(start + .seconds(12)) == 20_000_000_000, "an old reading is replaced by any")

    let pool = makePool(info) { _ in }
    defer { pool.close() }
    let times = try pool.withConnection(until: soon) { connection throws(PostgresError) in
        let before = try connection.run("SELECT clock_timestamp()", until: soon).time(0, 0)
        let now = pool.clock.now() ?? 0
        return (before, now, try connection.run("SELECT clock_timestamp()", until: soon).time(0, 0))
    }
    // The reading of the connection is exact to its connect timeout at most.
    expect(
        times.1 > times.0 - 2_000_000_000 && times.1 < times.2 + 2_000_000_000, "the clock of the database")
}

func testNotifications(_ info: String, _ folder: String) throws {
    let scheduled = Mutex<[(Duration, @Sendable () -> Void)]>([])
    func runNext(_ expected: Duration, _ text: String) {
        let next = scheduled.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        expect(next?.0 == expected && scheduled.withLock { $0.isEmpty }, text)
        next?.1()
    }
    let proxy = try makeProxy(folder, "notifications")
    let clock = TestClock()
    let pool = PostgresPool(
        PostgresServers(
            patientSettings(["host=\(folder)/notifications user=postgres dbname=postgres"])),
        now: { clock.now })
    defer { pool.close() }
    let notifier = PostgresNotifier(
        pool, node: 1, schedule: { delay, body in scheduled.withLock { $0.append((delay, body)) } })
    let servers = PostgresServers(patientSettings([info]))
    let own = try PostgresListener(servers, node: 1, until: soon)
    let other = try PostgresListener(servers, node: 2, until: soon)

    for number in 0..<1000 { notifier.recordChange(of: Int64(number % 2)) }
    runNext(.zero, "one notification for many changes")
    expect(try other.next(until: soon) == PostgresNews(shares: [0, 1], count: 1), "other nodes are notified")
    expect(try own.next(until: .now) == PostgresNews(), "a node ignores its own notifications")
    notifier.recordChange(of: 7)
    notifier.recordChange(of: 8)
    runNext(PostgresNotifier.interval, "the next notification comes after the interval")
    expect(try other.next(until: soon) == PostgresNews(shares: [7, 8], count: 1), "the next notification")
    runNext(PostgresNotifier.interval, "the interval after it")
    expect(scheduled.withLock { $0.isEmpty }, "nothing is scheduled without changes")
    for number in 0..<2000 { notifier.recordChange(of: Int64(1000 + number)) }
    runNext(.zero, "many shares")
    expect(try other.next(until: soon).isEverything, "too many shares for a notification")
    runNext(PostgresNotifier.interval, "the interval after many shares")

    proxy.refuseConnections(true)
    proxy.inject(.loseRequests)
    notifier.recordChange(of: 9)
    runNext(.zero, "a notification that is lost")
    proxy.refuseConnections(false)
    clock.advance(by: .seconds(2))
    runNext(PostgresNotifier.interval, "it is repeated")
    expect(try other.next(until: soon) == PostgresNews(shares: [9], count: 1), "the repeated notification")

    let admin = try PostgresConnection(info, until: soon)
    try admin.run(
        "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
        until: soon)
    let lost = failure { () throws(PostgresError) in _ = try other.next(until: soon) }
    expect(lost?.kind == .connectionLost, "a listener reports the loss of its connection")
    let silent = try PostgresListener(
        PostgresServers(
            {
                var settings = PostgresSettings(servers: [
                    "host=\(folder)/notifications user=postgres dbname=postgres"
                ])
                settings.statementTimeout = .seconds(2)
                return settings
            }()), node: 3, until: soon)
    proxy.inject(.silence)
    let silence = failure { () throws(PostgresError) in _ = try silent.next(until: .now) }
    expect(silence?.kind == .timedOut, "a listener notices that the server does not answer")
}
#endif

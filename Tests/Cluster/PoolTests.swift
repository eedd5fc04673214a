#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

func testPools(_ info: String, _ folder: String) throws {
    try testSessions(info)
    try testWaiting(info)
    try testReplacement(info)
    try testPauses(folder)
}

/// With timeouts that are not reached on a slow machine.
func patientSettings(_ servers: [String]) -> PostgresSettings {
    var settings = PostgresSettings(servers: servers)
    settings.connectTimeout = .seconds(20)
    settings.statementTimeout = .seconds(20)
    settings.lockTimeout = .seconds(20)
    settings.idleTransactionTimeout = .seconds(60)
    return settings
}

func makePool(_ info: String, connections: Int = 1, waiters: Int = 10) -> PostgresPool {
    var settings = patientSettings([info])
    settings.connections = connections
    settings.waiters = waiters
    return PostgresPool(PostgresServers(settings))
}

func process(_ pool: PostgresPool) throws(PostgresError) -> Int64 {
    try pool.withConnection(until: soon) { connection throws(PostgresError) in
        try connection.run("SELECT pg_backend_pid()", until: soon).integer(0, 0)
    }
}

private func testSessions(_ info: String) throws {
    var settings = PostgresSettings(servers: [info])
    settings.applicationName = "davit n1"
    let pool = PostgresPool(PostgresServers(settings))
    defer { pool.close() }
    try pool.withConnection(until: soon) { connection throws(PostgresError) in
        let values = try connection.run(
            """
            SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                current_setting('idle_in_transaction_session_timeout'), current_setting('application_name')
            """, until: soon)
        let texts = try (0..<4).map { column throws(PostgresError) in try values.text(0, column) }
        expect(texts == ["3s", "2s", "5s", "davit n1"], "the settings of a session")
    }
    expect(pool.servers.highestTimeline == 1 && pool.counts.idle == 1, "the timeline of the first connection")
    expect(pool.clock.now() != nil, "a new connection reads the clock")
    expect(
        failure { () throws(PostgresError) in
            _ = try pool.withConnection(until: soon) { connection throws(PostgresError) in
                try connection.run("BEGIN", until: soon)
            }
        } == nil && pool.counts.connections == 0, "a connection with an open transaction is not used again")
}

private func testWaiting(_ info: String) throws {
    let pool = makePool(info, connections: 1, waiters: 3)
    let order = Mutex<[Int]>([])
    var jobs: [Job] = []
    try pool.withConnection(until: soon) { _ throws(PostgresError) in
        for number in 0..<3 {
            let job = try? Job {
                _ = try? pool.withConnection(until: soon) { _ in order.withLock { $0.append(number) } }
            }
            if let job { jobs.append(job) }
            eventually("a thread waits") { pool.counts.waiting == number + 1 }
        }
        let refused = failure { () throws(PostgresError) in _ = try process(pool) }
        expect(refused?.kind == .busy, "too many threads wait")
    }
    for job in jobs { job.wait() }
    expect(order.withLock { $0 } == [0, 1, 2], "threads get connections in order")
    try pool.withConnection(until: soon) { _ throws(PostgresError) in
        let late = failure { () throws(PostgresError) in
            try pool.withConnection(until: .now + .milliseconds(20)) { _ in }
        }
        expect(late?.kind == .busy && pool.counts.waiting == 0, "a deadline while waiting")
    }
    // All threads open a connection, wait, or find one.
    let busy = makePool(info, connections: 3, waiters: 100)
    let sum = Mutex(0)
    jobs = try (0..<30).map { _ in
        try Job {
            for _ in 0..<20 { if (try? process(busy)) != nil { sum.withLock { $0 += 1 } } }
        }
    }
    for job in jobs { job.wait() }
    expect(sum.withLock { $0 } == 600, "many threads share few connections")
    expect(busy.counts.connections <= 3 && busy.counts.waiting == 0, "the limit of connections holds")
    try pool.withConnection(until: soon) { _ in
        let job = try? Job {
            let closed = failure { () throws(PostgresError) in _ = try process(pool) }
            expect(closed?.kind == .connectionLost, "waiting for a pool that is closed")
        }
        eventually("a thread waits for the pool") { pool.counts.waiting == 1 }
        pool.close()
        job?.wait()
    }
    expect(pool.counts.connections == 0, "a connection that was in use is closed")
    busy.close()
}

private func testReplacement(_ info: String) throws {
    let pool = makePool(info)
    let admin = try PostgresConnection(info, until: soon)
    let first = try process(pool)
    expect(try process(pool) == first, "a connection is used again")
    try admin.run("SELECT pg_terminate_backend($1::int, 20000)", .integer(first), until: soon)
    expect(try process(pool) != first, "an idle connection that is closed by the server is replaced")
    let lost = failure { () throws(PostgresError) in
        try pool.withConnection(until: soon) { connection throws(PostgresError) in
            let current = try connection.run("SELECT pg_backend_pid()", until: soon).integer(0, 0)
            try admin.run("SELECT pg_terminate_backend($1::int, 20000)", .integer(current), until: soon)
            try connection.run("SELECT 1", until: soon)
        }
    }
    expect(lost?.kind == .connectionLost, "a connection that is lost while it is used")
    expect(try process(pool) > 0, "a lost connection is replaced")
    pool.close()
}

private func testPauses(_ folder: String) throws {
    let proxy = try makeProxy(folder, "pauses")
    let clock = TestClock()
    let pool = PostgresPool(
        PostgresServers(patientSettings(["host=\(folder)/pauses user=postgres dbname=postgres"])),
        now: { clock.now })
    proxy.refuseConnections(true)
    func fails(_ text: String) {
        let error = failure { () throws(PostgresError) in _ = try process(pool) }
        expect(error?.kind == .connectionLost, text)
    }
    fails("no server")
    let attempts = proxy.attemptCount
    fails("no server, in the pause")
    expect(proxy.attemptCount == attempts, "no attempt in the pause")
    expect(pool.nextAttempt == clock.now + .milliseconds(50), "the first pause")
    clock.advance(by: .milliseconds(50))
    fails("no server, after the pause")
    expect(proxy.attemptCount > attempts, "an attempt after the pause")
    for _ in 0..<10 {
        clock.advance(by: .seconds(1))
        fails("no server, again")
    }
    expect(pool.nextAttempt == clock.now + .seconds(1), "the longest pause")
    proxy.refuseConnections(false)
    clock.advance(by: .seconds(1))
    expect(try process(pool) > 0 && pool.nextAttempt == nil, "the server returns")
    pool.close()
}

func makeProxy(_ folder: String, _ name: String) throws -> Proxy {
    shell("mkdir -p \(folder)/\(name)")
    return try Proxy(in: "\(folder)/\(name)", to: folder)
}
#endif

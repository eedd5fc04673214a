#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization

func testTransactions(_ info: String, _ folder: String) throws {
    let admin = try PostgresConnection(info, until: soon)
    try PostgresMigration().run(PostgresServers(patientSettings([info])), until: soon)
    try admin.run("CREATE TABLE public.entry(id int PRIMARY KEY)", until: soon)
    try admin.run("CREATE TABLE public.counter(id int PRIMARY KEY, value int)", until: soon)
    try testOutcomes(info, admin)
    try testConflicts(info, admin)
    let proxy = try makeProxy(folder, "transactions")
    let proxied = "host=\(folder)/transactions user=postgres dbname=postgres"
    try testLostCommits(proxied, proxy, admin)
    try testLateCommit(proxied, proxy, admin)
    try testSlowCommit(proxied, proxy, admin)
    try testUnknownOutcome(proxied, proxy, admin)
    try testFence(info, admin)
    try testMarkers(info, admin)
    try testRole(folder, admin)
    try testCrash(info, folder)
}

func makePool(_ info: String, _ change: (inout PostgresSettings) -> Void) -> PostgresPool {
    var settings = patientSettings([info])
    change(&settings)
    return PostgresPool(
        PostgresServers(settings),
        prepare: { connection, deadline throws(PostgresError) in
            try PostgresMigration().attach(connection, until: deadline)
        })
}

/// Inserts a row in a transaction, after `step` with the number of the attempt. Returns the number of attempts.
private func insert(
    _ id: Int64, _ pool: PostgresPool, sendsEarly: Bool = true,
    _ step: (Int, Int64) throws(PostgresError) -> Void = { _, _ in }
) throws(PostgresError) -> Int {
    var attempts = 0
    return try pool.transaction(until: soon) { transaction throws(PostgresError) in
        attempts += 1
        let process = sendsEarly ? try transaction.run("SELECT pg_backend_pid()").integer(0, 0) : 0
        transaction.last.add("INSERT INTO public.entry VALUES ($1)", .integer(id))
        try step(attempts, process)
        return .commit(attempts)
    }
}

private func count(_ admin: PostgresConnection, _ id: Int64) throws(PostgresError) -> Int64 {
    try admin.run("SELECT count(*) FROM public.entry WHERE id = $1", .integer(id), until: soon).integer(0, 0)
}

private func testOutcomes(_ info: String, _ admin: PostgresConnection) throws {
    let pool = makePool(info) { $0.connections = 1 }
    defer { pool.close() }
    expect(try insert(1, pool) == 1 && count(admin, 1) == 1, "a transaction in two round trips")
    expect(
        try insert(2, pool, sendsEarly: false) == 1 && count(admin, 2) == 1, "a transaction in one round trip"
    )
    let value = try pool.transaction(until: soon) { transaction throws(PostgresError) in
        try transaction.run("INSERT INTO public.entry VALUES (3)")
        return PostgresDecision.rollback(7)
    }
    expect(try value == 7 && count(admin, 3) == 0, "a transaction that is rolled back")
    let error = failure { () throws(PostgresError) in
        _ = try pool.transaction(until: soon) { transaction throws(PostgresError) in
            try transaction.run("INSERT INTO public.entry VALUES (4)")
            try transaction.run("INSERT INTO public.entry VALUES (1)")
            return .commit(())
        }
    }
    expect(error?.kind == .constraint("entry_pkey"), "the error of a statement")
    expect(try count(admin, 4) == 0 && pool.counts.idle == 1, "a transaction that failed is rolled back")
    let late = failure { () throws(PostgresError) in _ = try insert(1, pool) }
    expect(
        late?.kind == .constraint("entry_pkey") && pool.counts.idle == 1, "the error of a statement at COMMIT"
    )
    let markers = try admin.run("SELECT count(*) FROM davit.commit_marker WHERE is_committed", until: soon)
    expect(try markers.integer(0, 0) == 2, "each committed transaction leaves a marker")
    expect(
        try pool.read(until: soon) { connection throws(PostgresError) in
            try connection.run("SELECT 8", until: soon).integer(0, 0)
        } == 8, "reading")
    var isFirst = true
    let again = try pool.read(until: soon) { connection throws(PostgresError) in
        let process = try connection.run("SELECT pg_backend_pid()", until: soon).integer(0, 0)
        if isFirst {
            isFirst = false
            try admin.run("SELECT pg_terminate_backend($1::int, 20000)", .integer(process), until: soon)
        }
        return try connection.run("SELECT 9", until: soon).integer(0, 0)
    }
    expect(again == 9, "reading again after a loss")
}

private func testConflicts(_ info: String, _ admin: PostgresConnection) throws {
    let pool = makePool(info) { $0.connections = 4 }
    defer { pool.close() }
    var tries = 0
    let endless = failure { () throws(PostgresError) in
        _ = try pool.transaction(until: soon) { transaction throws(PostgresError) in
            tries += 1
            try transaction.run("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")
            return .commit(())
        }
    }
    expect(endless?.kind == .retry && tries == PostgresPool.attemptLimit, "the number of attempts is limited")

    // Each of two transactions locks a row, and then needs the row of the other.
    try admin.run("INSERT INTO public.counter VALUES (1, 0), (2, 0)", until: soon)
    let meeting = Monitor(0)
    let jobs = try [Int64(1), 2].map { own in
        try Job {
            var isFirst = true
            let error = failure { () throws(PostgresError) in
                try pool.transaction(until: soon) { transaction throws(PostgresError) in
                    try transaction.run(
                        "UPDATE public.counter SET value = value + 1 WHERE id = $1", .integer(own))
                    if isFirst {
                        isFirst = false
                        meeting.withLock { $0 += 1 }
                        meeting.broadcast()
                        meeting.wait { $0 == 2 ? () : nil }
                    }
                    transaction.last.add(
                        "UPDATE public.counter SET value = value + 1 WHERE id = $1", .integer(3 - own))
                    return .commit(())
                }
            }
            expect(error == nil, "a transaction in a deadlock runs again")
        }
    }
    for job in jobs { job.wait() }
    let sum = try admin.run("SELECT sum(value)::int, min(value) FROM public.counter", until: soon)
    expect(try sum.integer(0, 0) == 4 && sum.integer(0, 1) == 2, "each transaction is committed once")
}

private func testLostCommits(_ proxied: String, _ proxy: Proxy, _ admin: PostgresConnection) throws {
    let pool = makePool(proxied) { $0.connections = 2 }
    defer { pool.close() }
    for (id, sendsEarly) in [(Int64(20), true), (21, false)] {
        // Opens the connection, so that it is the one whose answers are lost.
        try pool.withConnection(until: soon) { _ in }
        let attempts = try insert(id, pool, sendsEarly: sendsEarly) { attempt, _ in
            if attempt == 1 { proxy.inject(.loseAnswers) }
        }
        expect(try attempts == 1 && count(admin, id) == 1, "the answer to COMMIT is lost")
    }
    for (id, sendsEarly) in [(Int64(22), true), (23, false)] {
        try pool.withConnection(until: soon) { _ in }
        let attempts = try insert(id, pool, sendsEarly: sendsEarly) { attempt, _ in
            if attempt == 1 { proxy.inject(.loseRequests) }
        }
        expect(try attempts == 2 && count(admin, id) == 1, "COMMIT is lost")
    }
    let attempts = try insert(24, pool) { attempt, process throws(PostgresError) in
        if attempt == 1 {
            try admin.run("SELECT pg_terminate_backend($1::int, 20000)", .integer(process), until: soon)
        }
    }
    expect(try attempts == 2 && count(admin, 24) == 1, "the session is ended before COMMIT")
    let again = try insert(25, pool) { attempt, _ throws(PostgresError) in
        if attempt == 1 { _ = try PostgresConnection("host=/absent", until: soon) }
    }
    expect(try again == 2 && count(admin, 25) == 1, "the connection is lost before COMMIT")
}

/// COMMIT arrives at the server after the node has found that it is lost.
private func testLateCommit(_ proxied: String, _ proxy: Proxy, _ admin: PostgresConnection) throws {
    let pool = makePool(proxied) { $0.connections = 2 }
    defer { pool.close() }
    for (id, sendsEarly) in [(Int64(30), true), (31, false)] {
        let first = try process(pool)
        var attempts = 0
        let cutting = try Job {
            eventually("COMMIT is delayed") { proxy.hasDelayedRequests }
            proxy.cut()
        }
        try pool.transaction(until: soon) { transaction throws(PostgresError) in
            attempts += 1
            if sendsEarly { try transaction.run("SELECT 1") }
            if attempts == 1 { proxy.inject(.delayRequests) }
            transaction.last.add("INSERT INTO public.entry VALUES ($1)", .integer(id * 100 + Int64(attempts)))
            return .commit(())
        }
        cutting.wait()
        expect(proxy.hasDelayedRequests && attempts == 2, "COMMIT is late, and the transaction runs again")
        proxy.deliver()
        try eventually("the late COMMIT has arrived") {
            try admin.run(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", .integer(first), until: soon
            )
            .integer(0, 0) == 0
        }
        let rows = try admin.run(
            "SELECT max(id) FROM public.entry WHERE id / 100 = $1", .integer(id), until: soon)
        let number = try admin.run(
            "SELECT count(*) FROM public.entry WHERE id / 100 = $1", .integer(id), until: soon)
        expect(
            try rows.integer(0, 0) == id * 100 + 2 && number.integer(0, 0) == 1,
            "a late COMMIT of a transaction that runs again fails")
    }
}

/// The connection is lost while the server commits.
private func testSlowCommit(_ proxied: String, _ proxy: Proxy, _ admin: PostgresConnection) throws {
    try makeCommitsWait(admin)
    defer { _ = try? admin.run("DROP TRIGGER slow ON public.entry", until: soon) }
    let pool = makePool(proxied) {
        $0.connections = 2
        $0.lockTimeout = .milliseconds(100)
    }
    defer { pool.close() }
    try pool.withConnection(until: soon) { _ in }
    let attempts = Mutex(0)
    try admin.run("SELECT pg_advisory_lock(99)", until: soon)
    let job = try Job {
        let result = try? insert(40, pool) { _, _ in proxy.inject(.loseAnswers) }
        attempts.withLock { $0 = result ?? 0 }
    }
    try eventually("COMMIT waits in the server") { try waitingForAdvisoryLocks(admin) == 1 }
    proxy.cut()
    try eventually("the node waits for the end of the transaction") {
        try admin.run(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'transactionid' OR wait_event = 'SpeculativeToken'",
            until: soon
        ).integer(0, 0) == 1
    }
    try admin.run("SELECT pg_advisory_unlock(99)", until: soon)
    job.wait()
    expect(
        try attempts.withLock { $0 } == 1 && count(admin, 40) == 1,
        "COMMIT goes on after the connection is lost")
}

/// Makes COMMIT of a transaction that inserts rows wait for the advisory lock 99.
private func makeCommitsWait(_ admin: PostgresConnection) throws(PostgresError) {
    try admin.run(
        """
        CREATE OR REPLACE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM set_config('lock_timeout', '0', true);
            PERFORM pg_advisory_xact_lock_shared(99);
            RETURN NULL;
        END $$
        """, until: soon)
    try admin.run(
        """
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON public.entry DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.wait()
        """, until: soon)
}

func waitingForAdvisoryLocks(_ admin: PostgresConnection) throws(PostgresError) -> Int64 {
    try admin.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted", until: soon)
        .integer(0, 0)
}

private func testUnknownOutcome(_ proxied: String, _ proxy: Proxy, _ admin: PostgresConnection) throws {
    let pool = makePool(proxied) {
        $0.connections = 1
        $0.settleTimeout = .milliseconds(100)
    }
    defer { pool.close() }
    let unknown = failure { () throws(PostgresError) in
        _ = try insert(50, pool) { _, _ in
            proxy.refuseConnections(true)
            proxy.inject(.loseAnswers)
        }
    }
    expect(unknown?.kind == .inDoubt, "the server cannot be reached after COMMIT")
    proxy.refuseConnections(false)
    try eventually("the transaction was committed") { try count(admin, 50) == 1 }
}

/// The server ends the transaction of a node that has stopped.
private func testFence(_ info: String, _ admin: PostgresConnection) throws {
    let pool = makePool(info) { $0.idleTransactionTimeout = .milliseconds(300) }
    defer { pool.close() }
    let attempts = try insert(60, pool) { attempt, process throws(PostgresError) in
        guard attempt == 1 else { return }
        let deadline = soon
        while try admin.run(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", .integer(process), until: soon
        )
        .integer(0, 0) == 1, ContinuousClock.now < deadline {}
    }
    expect(try attempts >= 2 && count(admin, 60) == 1, "a stopped node cannot commit")
}

private func testMarkers(_ info: String, _ admin: PostgresConnection) throws {
    let pool = makePool(info) { _ in }
    defer { pool.close() }
    _ = try insert(80, pool)
    expect(try pool.removeOldMarkers(limit: 100, until: soon) == 0, "markers remain for an hour")
    try admin.run("UPDATE davit.commit_marker SET created = created - interval '2 hours'", until: soon)
    _ = try insert(81, pool)
    expect(try pool.removeOldMarkers(limit: 2, until: soon) == 2, "a limited number of markers")
    while try pool.removeOldMarkers(limit: 100, until: soon) > 0 {}
    let left = try admin.run("SELECT count(*) FROM davit.commit_marker", until: soon)
    expect(try left.integer(0, 0) == 1, "old markers are removed")
}

/// A role without special permissions, which owns its database, and has few connections.
private func testRole(_ folder: String, _ admin: PostgresConnection) throws {
    try admin.run("CREATE ROLE davit LOGIN CONNECTION LIMIT 1", until: soon)
    try admin.run("CREATE DATABASE davit OWNER davit", until: soon)
    let info = "host=\(folder) user=davit dbname=davit"
    let servers = PostgresServers(patientSettings([info]))
    // A session that has ended still counts until the server has noticed it.
    eventually("a role without special permissions migrates its database") {
        failure { () throws(PostgresError) in try PostgresMigration().run(servers, until: soon) } == nil
    }
    let pool = makePool(info) { $0.connections = 1 }
    defer { pool.close() }
    eventually("a role without special permissions changes something") {
        failure { () throws(PostgresError) in
            try pool.transaction(until: soon) { transaction throws(PostgresError) in
                transaction.last.add("INSERT INTO node (name) VALUES ('a')")
                return .commit(())
            }
        } == nil
    }
    let second = failure { () throws(PostgresError) in _ = try PostgresConnection(info, until: soon) }
    expect(second?.kind == .tooManyConnections && second?.state == "53300", "too many connections")
    expect(second?.message.contains("LOCATION") == false, "the error of connecting has one line")
    let missing = failure { () throws(PostgresError) in
        _ = try PostgresConnection("host=\(folder) user=postgres dbname=absent", until: soon)
    }
    expect(missing?.kind == .other && missing?.state == "3D000", "a missing database")
}

/// A backend is killed in the middle of COMMIT, so that the server restarts.
private func testCrash(_ info: String, _ folder: String) throws {
    let admin = try PostgresConnection(info, until: soon)
    try makeCommitsWait(admin)
    let pool = makePool(info) { $0.connections = 2 }
    defer { pool.close() }
    let victim = Mutex<Int64>(0)
    let attempts = Mutex(0)
    try admin.run("SELECT pg_advisory_lock(99)", until: soon)
    let job = try Job {
        let result = try? insert(70, pool) { attempt, process throws(PostgresError) in
            if attempt == 1 { victim.withLock { $0 = process } }
        }
        attempts.withLock { $0 = result ?? 0 }
    }
    try eventually("COMMIT waits in the server") {
        guard victim.withLock({ $0 }) > 0 else { return false }
        return try waitingForAdvisoryLocks(PostgresConnection(info, until: soon)) == 1
    }
    expect(shell("kill -9 \(victim.withLock { $0 })"), "the backend is killed")
    job.wait()
    let after = try PostgresConnection(info, until: soon)
    expect(try attempts.withLock { $0 } == 2 && count(after, 70) == 1, "a server that crashes during COMMIT")
}
#endif

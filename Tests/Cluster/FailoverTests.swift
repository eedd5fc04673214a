#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization

/// A primary and a synchronous standby, which are promoted, stopped and woken up.
struct ServerPair {
    let folder: String

    init(in folder: String) throws {
        self.folder = folder
        let isStarted = shell(
            """
            set -e; cd \(folder); mkdir -p a-socket b-socket; chmod 777 a-socket b-socket
            ./run initdb -D a -U postgres -A trust -N > /dev/null
            ./run pg_ctl -D a -w -l a.log start -o "-k \(folder)/a-socket -c listen_addresses='' -c fsync=off" > /dev/null
            ./run pg_basebackup -h \(folder)/a-socket -U postgres -D b -R -X stream -c fast --no-sync
            ./run pg_ctl -D b -w -l b.log start -o "-k \(folder)/b-socket -c listen_addresses='' -c fsync=off" > /dev/null
            """)
        expect(isStarted, "a primary and a standby start")
    }

    func makeSynchronous() throws {
        let admin = try PostgresConnection(info("a"), until: soon)
        try admin.run("ALTER SYSTEM SET synchronous_standby_names = '*'", until: soon)
        try admin.run("SELECT pg_reload_conf()", until: soon)
        try eventually("the standby is synchronous") {
            try admin.run("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", until: soon)
                .integer(0, 0) == 1
        }
    }

    func info(_ server: String) -> String { "host=\(folder)/\(server)-socket user=postgres dbname=postgres" }

    func promote() {
        expect(shell("cd \(folder) && ./run pg_ctl -D b promote -w > /dev/null"), "the standby is promoted")
    }

    func stop() { signal("STOP") }

    func wake() { signal("CONT") }

    private func signal(_ name: String) {
        let main = "$(head -1 \(folder)/a/postmaster.pid)"
        expect(shell("kill -\(name) \(main) $(pgrep -P \(main))"), "\(name) to the primary")
    }

    func kill() { expect(shell("kill -9 $(head -1 \(folder)/a/postmaster.pid)"), "the primary is killed") }

    func remove() {
        shell(
            "cd \(folder); for s in a b; do ./run pg_ctl -D $s -m immediate -w stop > /dev/null 2>&1; done; rm -rf a b"
        )
    }
}

func testFailover(_ folder: String) throws {
    let pair = try ServerPair(in: folder)
    defer { pair.remove() }
    try pair.makeSynchronous()
    shell("mkdir -p \(folder)/b-proxy")
    let proxy = try Proxy(in: "\(folder)/b-proxy", to: "\(folder)/b-socket")
    let clock = TestClock()
    func makeNode() -> PostgresPool {
        var settings = PostgresSettings(servers: [
            pair.info("a"), "host=\(folder)/b-proxy user=postgres dbname=postgres",
        ])
        settings.connectTimeout = .seconds(2)
        return PostgresPool(PostgresServers(settings), now: { clock.now })
    }
    func server(_ pool: PostgresPool) throws(PostgresError) -> String {
        try pool.withConnection(until: soon) { connection throws(PostgresError) in
            let folder = try connection.run("SELECT current_setting('data_directory')", until: soon).text(
                0, 0)
            return String(folder.suffix(1))
        }
    }
    let standby = failure { () throws(PostgresError) in
        _ = try server(PostgresPool(PostgresServers(PostgresSettings(servers: [pair.info("b")]))))
    }
    expect(standby?.kind == .notPrimary, "a standby is refused")
    let (node, idle) = (makeNode(), makeNode())
    expect(try server(node) == "a" && server(idle) == "a", "nodes use the primary")

    pair.stop()
    let late = failure { () throws(PostgresError) in
        try node.withConnection(until: soon) { connection throws(PostgresError) in
            _ = try connection.run("SELECT 1", until: .now + .milliseconds(100))
        }
    }
    expect(late?.kind == .timedOut, "a stopped server does not answer")
    pair.promote()
    expect(try server(node) == "b" && node.servers.highestTimeline == 2, "a node uses the promoted server")
    pair.wake()
    expect(try server(makeNode()) == "b", "a new node uses the highest timeline")
    proxy.refuseConnections(true)
    proxy.inject(.loseRequests)
    for _ in 0..<2 {
        let lost = failure { () throws(PostgresError) in _ = try server(node) }
        expect(lost?.kind == .connectionLost, "the promoted server cannot be reached")
        clock.advance(by: .seconds(1))
    }
    let refused = failure { () throws(PostgresError) in _ = try server(node) }
    expect(refused?.kind == .notPrimary, "the old primary is refused")
    proxy.refuseConnections(false)
    clock.advance(by: .seconds(1))
    expect(try server(node) == "b", "a node returns to the promoted server")
    expect(try server(idle) == "a", "a node that saw no failure does not know of the promotion")
    clock.advance(by: .seconds(10))
    expect(try server(idle) == "b", "a node compares the servers from time to time")
    node.close()
    idle.close()
}

private enum Outcome { case committed, refused, unknown }

/// Transactions that are running while the primary fails. No acknowledged one is lost, and no refused one is committed.
func testCommitsDuringFailover(_ info: String, _ folder: String, stopsPrimary: Bool) throws {
    let pair = try ServerPair(in: folder)
    defer { pair.remove() }
    var settings = PostgresSettings(servers: [pair.info("a"), pair.info("b")])
    settings.connections = 4
    settings.connectTimeout = .milliseconds(500)
    settings.statementTimeout = .milliseconds(500)
    settings.settleTimeout = .seconds(30)
    let servers = PostgresServers(settings)
    try PostgresMigration().run(servers, until: soon)
    let admin = try PostgresConnection(pair.info("a"), until: soon)
    try admin.run("CREATE TABLE public.entry(id bigint PRIMARY KEY)", until: soon)
    try pair.makeSynchronous()
    let pool = PostgresPool(
        servers,
        prepare: { connection, deadline throws(PostgresError) in
            try PostgresMigration().attach(connection, until: deadline)
        })
    defer { pool.close() }

    let outcomes = Mutex<[Int64: Outcome]>([:])
    let isEnding = Mutex(false)
    @Sendable func committed() -> Int {
        outcomes.withLock { outcomes in outcomes.values.count { $0 == .committed } }
    }
    let workers = try (0..<4).map { worker in
        try Job {
            var id = Int64(worker)
            while !isEnding.withLock({ $0 }) {
                let failure = failure { () throws(PostgresError) in
                    try pool.transaction(until: .now + .seconds(3)) { transaction throws(PostgresError) in
                        try transaction.run("SELECT 1")
                        transaction.last.add("INSERT INTO public.entry VALUES ($1)", .integer(id))
                        return .commit(())
                    }
                }
                let outcome: Outcome =
                    failure.map { failure in failure.kind == .inDoubt ? .unknown : .refused } ?? .committed
                outcomes.withLock { $0[id] = outcome }
                id += 4
                // While there is no server, calls fail immediately.
                if outcome != .committed { SystemThread.sleep(milliseconds: 1) }
            }
        }
    }
    let mixed = PostgresPool(PostgresServers(patientSettings([pair.info("a"), info])))
    _ = try process(mixed)
    eventually("transactions are running") { committed() > 100 }
    if stopsPrimary { pair.stop() } else { pair.kill() }
    if !stopsPrimary {
        // The session of the killed server lives until it notices.
        eventually("a server of another cluster is refused") {
            failure { () throws(PostgresError) in _ = try process(mixed) } != nil
        }
        let again = failure { () throws(PostgresError) in _ = try process(mixed) }
        expect(again != nil, "a server of another cluster is refused again")
    }
    pair.promote()
    if stopsPrimary { pair.wake() }
    let (promotion, before) = (ContinuousClock.now, committed())
    eventually("transactions are committed again") { committed() > before }
    print("transactions are committed again", ContinuousClock.now - promotion, "after the promotion")
    eventually("transactions are running again") { committed() > before + 100 }
    isEnding.withLock { $0 = true }
    for worker in workers { worker.wait() }
    expect(pool.servers.highestTimeline == 2, "the promoted server is in use")

    let promoted = try PostgresConnection(pair.info("b"), until: soon)
    let rows = try promoted.run("SELECT id FROM public.entry", until: soon)
    let found = Set(try (0..<rows.count).map { try rows.integer($0, 0) })
    let all = outcomes.withLock { $0 }
    expect(
        all.allSatisfy { $0.value != .committed || found.contains($0.key) },
        "no acknowledged transaction is lost")
    expect(
        all.allSatisfy { $0.value != .refused || !found.contains($0.key) },
        "no refused transaction is committed")
    expect(found.allSatisfy { all[$0] != nil }, "no other transaction is committed")
    expect(all.values.allSatisfy { $0 != .unknown }, "no outcome is unknown")
}
#endif

#if Postgres
import DavitPostgres
import DavitSystem

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

    func remove() {
        shell(
            "cd \(folder); for s in a b; do ./run pg_ctl -D $s -m immediate -w stop > /dev/null; done; rm -rf a b"
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
        settings.connectTimeout = .milliseconds(500)
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
#endif

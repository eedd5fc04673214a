#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization

func testMigrations(_ info: String) throws {
    let admin = try PostgresConnection(info, until: soon)
    let first: StaticString = "CREATE TABLE one(id int); INSERT INTO one VALUES (1), (2);"
    let second: StaticString = "ALTER TABLE one ADD COLUMN name text; CREATE TABLE two(id int);"
    let failing: StaticString = "CREATE TABLE three(id int); SELECT 1/0;"
    let servers = PostgresServers(patientSettings([info]))
    @Sendable func migrate(
        _ migrations: [StaticString], patience: Duration = .seconds(20)
    ) -> PostgresError? {
        failure { () throws(PostgresError) in
            try PostgresMigration(migrations: migrations, patience: patience).run(servers, until: soon)
        }
    }
    func count(_ statement: PostgresStatement) throws -> Int64 {
        try admin.run(statement, until: soon).integer(0, 0)
    }

    // Nodes that start at the same time.
    let jobs = try (0..<6).map { _ in try Job { expect(migrate([first, second]) == nil, "a migration") } }
    for job in jobs { job.wait() }
    expect(try count("SELECT count(*) FROM davit.one WHERE name IS NULL") == 2, "migrations run once")
    expect(try count("SELECT max(version) FROM davit.schema_version") == 2, "the version")
    expect(migrate([first, second]) == nil, "nothing to migrate")
    expect(migrate([first, second, failing])?.state == "22012", "a migration that fails")
    expect(
        try count("SELECT count(*) FROM pg_class WHERE relname = 'three'") == 0,
        "a migration is one transaction")
    let newer = migrate([first])
    expect(newer?.kind == .wrongSchema, "an older node refuses a newer schema")
    expect(newer?.message.contains("use a newer davit") == true, "the error names the remedy")

    // A node that is running.
    var settings = patientSettings([info])
    settings.applicationName = "davit old"
    func makePool(_ migrations: [StaticString]) -> PostgresPool {
        let migration = PostgresMigration(migrations: migrations)
        return PostgresPool(
            PostgresServers(settings),
            prepare: { connection, deadline throws(PostgresError) in
                try migration.attach(connection, until: deadline)
            })
    }
    let running = makePool([first, second])
    _ = try process(running)
    let third: StaticString = "CREATE TABLE three(id int)"
    let inUse = migrate([first, second, third], patience: .milliseconds(10))
    expect(
        inUse?.kind == .wrongSchema && inUse?.message.contains("(davit old)") == true,
        "older nodes are running")
    let stopping = try Job {
        eventually("the migration waits for older nodes") {
            (try? waitingForAdvisoryLocks(PostgresConnection(info, until: soon))) == 1
        }
        running.close()
    }
    expect(migrate([first, second, third]) == nil, "a migration waits for nodes that are stopping")
    stopping.wait()
    let old = makePool([first, second])
    let refused = failure { () throws(PostgresError) in _ = try process(old) }
    expect(refused?.kind == .wrongSchema, "a pool of an older node refuses a newer schema")

    try admin.run("DROP SCHEMA davit CASCADE", until: soon)
    try admin.run("CREATE SCHEMA davit", until: soon)
    try admin.run("CREATE TABLE davit.foreign(id int)", until: soon)
    expect(migrate([first])?.kind == .wrongSchema, "a schema davit of another program")
    try admin.run("DROP SCHEMA davit CASCADE", until: soon)
    let empty = makePool([first])
    let missing = failure { () throws(PostgresError) in _ = try process(empty) }
    expect(missing?.kind == .wrongSchema, "a database without tables")

    try PostgresMigration().run(servers, until: soon)
    try testTables(admin)
}

/// Makes sure that the functions and triggers of the tables work.
private func testTables(_ admin: PostgresConnection) throws {
    try admin.run("SET search_path = davit", until: soon)
    let root = try admin.run(
        """
        INSERT INTO resource (share, parent, key, name, kind, modified, created)
        VALUES (1, 0, 'files', 'files', 0, 0, 0) RETURNING id
        """, until: soon
    ).integer(0, 0)
    let folder = try admin.run(
        """
        INSERT INTO resource (share, parent, key, name, kind, modified, created)
        VALUES (1, $1, $2, $2, 0, 0, 0) RETURNING id
        """, .integer(root), .bytes(Array("ä".utf8)), until: soon
    ).integer(0, 0)
    let path = try admin.run(
        "SELECT depth, (member).id FROM resolve_path($1, $2)", .integer(root),
        .byteStrings([Array("ä".utf8), Array("b".utf8), Array("c".utf8)]), until: soon)
    expect(
        try path.count == 2 && path.integer(1, 0) == 1 && path.integer(1, 1) == folder,
        "the resources along a path")
    expect(
        try admin.run("SELECT * FROM resolve_path(-1, '{}')", until: soon).count == 0,
        "a root that does not exist")
    try admin.run("INSERT INTO account VALUES ('u', 's', 1), ('v', 's', 1)", until: soon)
    try admin.run(
        """
        INSERT INTO session (id, token_hash, account, created, used, address, agent)
        VALUES (1, '1', 'u', 0, 0, '', ''), (2, '2', 'v', 0, 0, '', '')
        """,
        until: soon)
    try admin.run("INSERT INTO second_factor VALUES ('v', '', 0, 0)", until: soon)
    try admin.run("INSERT INTO recovery_code VALUES ('v', '')", until: soon)
    try admin.run("UPDATE account SET secret = 't' WHERE name = 'u'", until: soon)
    try admin.run("DELETE FROM account WHERE name = 'v'", until: soon)
    let left = try admin.run(
        """
        SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM second_factor)
            + (SELECT count(*) FROM recovery_code)
        """, until: soon)
    expect(try left.integer(0, 0) == 0, "a changed or removed account leaves no sessions")
}
#endif

#if Postgres
import DavitPostgres

/// Cuts the connection at each request of an operation, before or after the server receives it.
private func cutAtEachRequest(
    _ proxy: Proxy, _ body: (_ fault: Proxy.Fault, _ request: Int) throws -> Void
) rethrows {
    for fault in [Proxy.Fault.loseRequests, .loseAnswers] {
        var request = 0
        repeat {
            request += 1
            proxy.plan(fault, request: request)
            try body(fault, request)
        } while !proxy.cancelPlan() && request < 100
        expect(request > 3 && request < 100, "all requests are cut")
    }
}

func testFaults(_ info: String, _ folder: String) throws {
    let proxy = try makeProxy(folder, "faults")
    try testTransactionFaults("host=\(folder)/faults user=postgres dbname=postgres", proxy, info)
    try testMigrationFaults("host=\(folder)/faults user=postgres dbname=postgres", proxy, info)
}

private func testTransactionFaults(_ proxied: String, _ proxy: Proxy, _ info: String) throws {
    let admin = try PostgresConnection(info, until: soon)
    try admin.run("CREATE TABLE public.fault(id int PRIMARY KEY)", until: soon)
    var id: Int64 = 0
    try cutAtEachRequest(proxy) { fault, request in
        id += 1
        let pool = makePool(proxied) { $0.connections = 1 }
        defer { pool.close() }
        let error = failure { () throws(PostgresError) in
            try pool.transaction(until: soon) { transaction throws(PostgresError) in
                try transaction.run("SELECT 1")
                try transaction.run("INSERT INTO public.fault VALUES ($1)", .integer(id))
                transaction.last.add("INSERT INTO public.fault VALUES ($1)", .integer(-id))
                return .commit(())
            }
        }
        expect(error == nil || error?.kind == .connectionLost, "the connection is lost, or all is well")
        let rows = try admin.run(
            "SELECT count(*) FROM public.fault WHERE abs(id) = $1", .integer(id), until: soon
        ).integer(0, 0)
        expect(rows == (error == nil ? 2 : 0), "\(fault) at request \(request) of a transaction")
    }
}

private func testMigrationFaults(_ proxied: String, _ proxy: Proxy, _ info: String) throws {
    let admin = try PostgresConnection(info, until: soon)
    try admin.run("DROP SCHEMA davit CASCADE", until: soon)
    let migration = PostgresMigration(migrations: [
        "CREATE TABLE one(id int); INSERT INTO one VALUES (1)",
        "ALTER TABLE one ADD COLUMN name text; INSERT INTO one VALUES (2)",
    ])
    try cutAtEachRequest(proxy) { fault, request in
        var runs = 0
        var error: PostgresError?
        repeat {
            runs += 1
            error = failure { () throws(PostgresError) in
                try migration.run(
                    PostgresServers(patientSettings([proxied])), until: soon)
            }
        } while error?.kind == .connectionLost && runs < 3
        expect(error == nil && runs < 3, "a migration runs again after a loss")
        let sum = try admin.run(
            "SELECT (SELECT sum(id) FROM davit.one), (SELECT count(name) FROM davit.one), max(version) FROM davit.schema_version",
            until: soon)
        expect(
            try sum.integer(0, 0) == 3 && sum.integer(0, 1) == 0 && sum.integer(0, 2) == 2,
            "\(fault) at request \(request) of a migration")
        try admin.run("DROP SCHEMA davit CASCADE", until: soon)
    }
    try PostgresMigration().run(PostgresServers(patientSettings([info])), until: soon)
}
#endif

#if Postgres
import DavitPostgres

func testConnections(_ info: String) throws {
    let first = try PostgresConnection(info, until: soon)
    let second = try PostgresConnection(info, until: soon)
    try testValues(first)
    try testErrors(first, info)
    try testPreparedStatements(first)
    try testPipelines(second)
    let third = try PostgresConnection(info, until: soon)
    try testSerializable(second, third)
    try testLosses(second, third, info)
    testFiles()
}

/// The files that a sandbox must permit.
private func testFiles() {
    let paths = PostgresFiles.paths(
        for: "postgresql://davit@10.0.0.5/davit?sslmode=verify-full&sslrootcert=/srv/root.pem")
    expect(paths.contains("/srv/root.pem"), "a file that the connection string names")
    expect(paths.contains { $0.hasSuffix("/.pgpass") }, "the file with passwords in the user's folder")
    expect(!paths.contains { $0.hasSuffix("/root.crt") }, "a file that another one replaces")
    expect(
        PostgresFiles.paths(for: "passfile=/srv/passwords dbname=davit").contains("/srv/passwords"),
        "another file with passwords")
}

private func testValues(_ connection: PostgresConnection) throws {
    let uuid = PostgresUUID.random()
    let time: Int64 = 1_700_000_000_123_456_000
    let result = try connection.run(
        "SELECT $1, $2, $3, $4, $5, $6, $7, $1::int4, $1::int2, NULL::text, $4 = '\\x0001ff', $8, $9",
        .integer(-7), .flag(true), .text("ä'"), .bytes([0, 1, 255]), .uuid(uuid), .time(time),
        .transactionID(1 << 40), .integers([3, -4]), .byteStrings([[], [0, 255]]), until: soon)
    expect(result.count == 1, "one row")
    expect(try result.integer(0, 0) == -7, "bigint")
    expect(try result.flag(0, 1) && result.flag(0, 10), "boolean")
    expect(try result.text(0, 2) == "ä'", "text")
    expect(try result.bytes(0, 3) == [0, 1, 255], "bytea")
    expect(try result.uuid(0, 4) == uuid, "uuid")
    expect(try result.time(0, 5) == time, "timestamptz")
    expect(try result.transactionID(0, 6) == 1 << 40, "xid8")
    expect(try result.integer(0, 7) == -7 && result.integer(0, 8) == -7, "integer and smallint")
    expect(result.isNull(0, 9) && !result.isNull(0, 8), "NULL")
    expect(
        failure { () throws(PostgresError) in _ = try result.text(0, 9) }?.kind == .other, "NULL is no text")
    expect(
        failure { () throws(PostgresError) in _ = try result.flag(0, 0) }?.kind == .other,
        "bigint is no boolean")
    expect(failure { () throws(PostgresError) in _ = try result.text(1, 0) }?.kind == .other, "no such row")
    let count = try result.withBytes(0, 3) { bytes in bytes.byteCount }
    expect(count == 3, "bytes without a copy")
    let arrays = try connection.run(
        "SELECT $1::int8[] = '{3,-4}', $2::bytea[] = ARRAY['', '\\x00ff']::bytea[], $3::int8[] = '{}'",
        .integers([3, -4]), .byteStrings([[], [0, 255]]), .integers([]), until: soon)
    expect(try arrays.flag(0, 0) && arrays.flag(0, 1) && arrays.flag(0, 2), "arrays")
    let nulls = try connection.run(
        "SELECT $1 IS NULL AND $2 IS NULL AND $3 IS NULL, $4 = '' AND $4 IS NOT NULL, to_timestamp(0), 'infinity'::timestamptz",
        .integer(nil), .text(nil), .bytes(nil), .text(""), until: soon)
    expect(try nulls.flag(0, 0) && nulls.flag(0, 1), "NULL and the empty text as parameters")
    expect(try nulls.time(0, 2) == 0 && nulls.time(0, 3) == .max, "1970 and infinity")
    let early = try connection.run(
        "SELECT to_timestamp(-1) - interval '0.000001 s' = $1", .time(-1_000_000_001), until: soon)
    expect(try early.flag(0, 0), "times before 1970 are rounded down")
    let large = String(repeating: "x", count: 30_000_000)
    expect(
        try connection.run("SELECT length($1)", .text(large), until: soon).integer(0, 0) == 30_000_000,
        "a parameter larger than the socket's buffer")
}

private func testErrors(_ connection: PostgresConnection, _ info: String) throws {
    expect(kind(connection, "SELECT * FROM absent") == .notPermitted, "a missing table")
    expect(
        kind(connection, "SELECT 1/0") == .other && connection.isOpen, "an error leaves the connection open")
    try connection.run("CREATE TABLE t(id int CONSTRAINT one PRIMARY KEY)", until: soon)
    expect(
        try connection.run("INSERT INTO t VALUES (1)", until: soon).affectedRows == 1,
        "the number of changed rows")
    expect(kind(connection, "INSERT INTO t VALUES (1)") == .constraint("one"), "a constraint and its name")
    try connection.run("CREATE TABLE late(id int UNIQUE DEFERRABLE INITIALLY DEFERRED)", until: soon)
    let another = try PostgresConnection(info, until: soon)
    try another.run("INSERT INTO late VALUES (1)", until: soon)
    expect(
        kind(another, "INSERT INTO late VALUES (1)") == .constraint("late_id_key"),
        "a statement whose commit fails is an error")
    try connection.run("BEGIN READ ONLY", until: soon)
    expect(kind(connection, "INSERT INTO t VALUES (2)") == .readOnly, "a read-only transaction")
    expect(connection.isInTransaction, "a failed transaction is open")
    expect(kindOfCommit(connection) == .other, "COMMIT of a failed transaction is an error")
    expect(!connection.isInTransaction, "a transaction that is rolled back is not open")
    try connection.run("SET statement_timeout = 1", until: soon)
    expect(kind(connection, "SELECT pg_sleep(60)") == .busy && connection.isOpen, "a statement_timeout")
    try connection.run("RESET statement_timeout", until: soon)
}

private func testPreparedStatements(_ connection: PostgresConnection) throws {
    let statement: PostgresStatement = "SELECT $1::bigint + 41"
    func run() throws(PostgresError) -> Int64 {
        try connection.run(statement, .integer(1), until: soon).integer(0, 0)
    }
    for _ in 0..<3 { expect(try run() == 42, "a prepared statement") }
    let uses = try connection.run(
        "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1::bigint + 41'", until: soon)
    expect(try uses.integer(0, 0) == 1, "a statement is prepared once")
    try connection.run("BEGIN", until: soon)
    _ = kind(connection, "SELECT 1/0")
    let late: PostgresStatement = "SELECT 43"
    expect(kind(connection, late) == .other, "a statement in a failed transaction")
    try connection.run("ROLLBACK", until: soon)
    expect(
        try connection.run(late, until: soon).integer(0, 0) == 43,
        "a statement that could not be prepared at first")
    expect(
        try connection.run(statement, .integer(2), until: soon).integer(0, 0) == 43
            && connection.run(statement, .text("3"), until: soon).integer(0, 0) == 44,
        "the same text with other types of parameters")
}

private func testPipelines(_ connection: PostgresConnection) throws {
    var batch = PostgresBatch()
    for number in 1...100 { batch.add("SELECT $1", .integer(Int64(number))) }
    let results = try connection.run(batch, until: soon)
    let numbers = try results.map { result throws(PostgresError) in try result.integer(0, 0) }
    expect(numbers == Array(1...100), "a hundred statements in one round trip")
    // More than the buffers of both sockets hold in each direction.
    var large = PostgresBatch()
    for _ in 0..<20 { large.add("SELECT $1", .bytes([UInt8](repeating: 1, count: 1_000_000))) }
    expect(try connection.run(large, until: soon).count == 20, "a large pipeline")
    var failing = PostgresBatch()
    failing.add("INSERT INTO t VALUES (10)")
    failing.add("INSERT INTO t VALUES ($1)", .integer(1))
    failing.add("INSERT INTO t VALUES (11)")
    let error = failure { () throws(PostgresError) in _ = try connection.run(failing, until: soon) }
    expect(error?.kind == .constraint("one"), "the error of a pipeline is the first one")
    expect(
        try connection.run("SELECT count(*) FROM t WHERE id >= 10", until: soon).integer(0, 0) == 0,
        "a pipeline is one transaction")
    expect(try connection.run(PostgresBatch(), until: soon).isEmpty, "an empty pipeline")
    var committing = PostgresBatch()
    committing.add("BEGIN")
    committing.add("INSERT INTO t VALUES (1)")
    committing.addCommit()
    let conflict = failure { () throws(PostgresError) in _ = try connection.run(committing, until: soon) }
    expect(
        conflict?.kind == .constraint("one") && connection.isInTransaction, "COMMIT after an error is not run"
    )
    try connection.run("ROLLBACK", until: soon)
}

private func testSerializable(_ first: PostgresConnection, _ second: PostgresConnection) throws {
    for connection in [first, second] {
        try connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE", until: soon)
        try connection.run("SELECT count(*) FROM t", until: soon)
    }
    try first.run("INSERT INTO t VALUES (3)", until: soon)
    try second.run("INSERT INTO t VALUES (4)", until: soon)
    expect(kindOfCommit(first) == nil, "COMMIT")
    expect(kindOfCommit(second) == .retry, "serializable transactions that conflict")
}

private func testLosses(
    _ first: PostgresConnection, _ second: PostgresConnection, _ info: String
) throws {
    let late = failure { () throws(PostgresError) in
        try second.run("SELECT pg_sleep(60)", until: .now + .milliseconds(50))
    }
    expect(late?.kind == .timedOut && !second.isOpen, "a deadline closes the connection")
    let third = try PostgresConnection(info, until: soon)
    let process = try third.run("SELECT pg_backend_pid()", until: soon).integer(0, 0)
    try third.run("BEGIN", until: soon)
    try first.run("SELECT pg_terminate_backend($1::int, 20000)", .integer(process), until: soon)
    expect(kindOfCommit(third) == .inDoubt && !third.isOpen, "COMMIT on a connection that is lost")
    expect(kind(third, "SELECT 1") == .connectionLost, "a statement on a lost connection")
}
#endif

// Tests of DavitPostgres with a server: ClusterTests SOCKET-FOLDER. scripts/cluster.sh starts the server.
#if Postgres
import DavitPostgres

let info = "host=\(CommandLine.arguments[1]) user=postgres dbname=postgres"
let limit = Duration.seconds(20)
nonisolated(unsafe) var failures = 0

func expect(_ isTrue: Bool, _ text: String) {
    print(isTrue ? "ok     " : "FAILED ", text)
    if !isTrue { unsafe failures += 1 }
}

func open() throws(PostgresError) -> PostgresConnection { try PostgresConnection(info, timeout: limit) }

func failure(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
    do throws(PostgresError) { try body() } catch { return error }
    return nil
}

func kind(_ connection: PostgresConnection, _ statement: String, isCommit: Bool = false) -> PostgresError
    .Kind?
{
    failure { () throws(PostgresError) in
        _ = try connection.run(statement, isCommit: isCommit, timeout: limit)
    }?.kind
}

let first = try open()
let second = try open()
expect(
    try first.run("SELECT $1::text, $2::text, 7", ["ä'", nil], timeout: limit) == [["ä'", nil, "7"]],
    "parameters, NULL and columns")
let large = String(repeating: "x", count: 30_000_000)
expect(
    try first.run("SELECT length($1)", [large], timeout: limit) == [["30000000"]],
    "a parameter larger than the socket's buffer")
expect(kind(first, "SELECT * FROM absent") == .notPermitted, "a missing table")
expect(kind(first, "SELECT 1/0") == .other && first.isOpen, "an error leaves the connection open")
_ = try first.run("CREATE TABLE t(id int CONSTRAINT one PRIMARY KEY)", timeout: limit)
_ = try first.run("INSERT INTO t VALUES (1)", timeout: limit)
expect(kind(first, "INSERT INTO t VALUES (1)") == .constraint("one"), "a constraint and its name")
_ = try first.run("BEGIN READ ONLY", timeout: limit)
expect(kind(first, "INSERT INTO t VALUES (2)") == .readOnly, "a read-only transaction")
expect(kind(first, "COMMIT", isCommit: true) == .other, "COMMIT of a failed transaction is an error")

for connection in [first, second] {
    _ = try connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE", timeout: limit)
    _ = try connection.run("SELECT count(*) FROM t", timeout: limit)
}
_ = try first.run("INSERT INTO t VALUES (3)", timeout: limit)
_ = try second.run("INSERT INTO t VALUES (4)", timeout: limit)
_ = try first.run("COMMIT", isCommit: true, timeout: limit)
expect(kind(second, "COMMIT", isCommit: true) == .retry, "serializable transactions that conflict")

let late = failure { () throws(PostgresError) in
    _ = try second.run("SELECT pg_sleep(60)", timeout: .milliseconds(50))
}
expect(late?.kind == .timedOut && !second.isOpen, "a deadline closes the connection")

let third = try open()
let pid = try third.run("SELECT pg_backend_pid()", timeout: limit)[0][0]
_ = try third.run("BEGIN", timeout: limit)
_ = try first.run("SELECT pg_terminate_backend($1::int, 20000)", [pid], timeout: limit)
expect(
    kind(third, "COMMIT", isCommit: true) == .inDoubt && !third.isOpen, "COMMIT on a connection that is lost")
expect(kind(third, "SELECT 1") == .connectionLost, "a statement on a closed connection")
print(unsafe failures == 0 ? "all passed" : "\(unsafe failures) failed")
if unsafe failures > 0 { fatalError("tests failed") }
#endif

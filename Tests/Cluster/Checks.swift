#if Postgres
import DavitPostgres
import Synchronization

let failures = Mutex(0)

func expect(_ isTrue: Bool, _ text: String) {
    print(isTrue ? "ok     " : "FAILED ", text)
    if !isTrue { failures.withLock { $0 += 1 } }
}

/// A deadline that no test reaches unless it hangs.
var soon: ContinuousClock.Instant { .now + .seconds(20) }

func failure(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
    do throws(PostgresError) { try body() } catch { return error }
    return nil
}

func kind(_ connection: PostgresConnection, _ statement: PostgresStatement) -> PostgresError.Kind? {
    failure { () throws(PostgresError) in try connection.run(statement, until: soon) }?.kind
}

func kindOfCommit(_ connection: PostgresConnection) -> PostgresError.Kind? {
    failure { () throws(PostgresError) in
        var batch = PostgresBatch()
        batch.addCommit()
        _ = try connection.run(batch, until: soon)
    }?.kind
}
#endif

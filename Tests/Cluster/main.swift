// Tests of DavitPostgres with a server: ClusterTests SOCKET-FOLDER. scripts/cluster.sh starts the server.
#if Postgres
import Synchronization
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

let info = "host=\(CommandLine.arguments[1]) user=postgres dbname=postgres"

func section(_ name: String, _ body: () throws -> Void) {
    let start = ContinuousClock.now
    do { try body() } catch { expect(false, "\(name): \(error)") }
    print(name, "took", ContinuousClock.now - start)
}

section("connections") { try testConnections(info) }
section("pools") { try testPools(info, CommandLine.arguments[1]) }
section("migrations") { try testMigrations(info) }
section("transactions") { try testTransactions(info, CommandLine.arguments[1]) }
section("faults") { try testFaults(info, CommandLine.arguments[1]) }
section("path locks") { try testPathLocks(info) }
section("clock") { try testClock(info) }
section("notifications") { try testNotifications(info, CommandLine.arguments[1]) }
section("failover") { try testFailover(CommandLine.arguments[1]) }
for stopsPrimary in [false, true] {
    section("failover with transactions, primary \(stopsPrimary ? "stopped" : "killed")") {
        try testCommitsDuringFailover(info, CommandLine.arguments[1], stopsPrimary: stopsPrimary)
    }
}
let failed = failures.withLock { $0 }
print("connections: \(passes.withLock { $0 }) passed, \(failed) failed")
exit(failed == 0 ? 0 : 1)
#endif

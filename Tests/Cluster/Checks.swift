#if Postgres
import DavitPostgres
import DavitSystem
import Synchronization
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

let passes = Mutex(0)
let failures = Mutex(0)

func expect(_ isTrue: Bool, _ text: String) {
    print(isTrue ? "ok     " : "FAILED ", text)
    // Programs that the tests start write to the same file.
    fflush(nil)
    if isTrue { passes.withLock { $0 += 1 } } else { failures.withLock { $0 += 1 } }
}

/// A deadline that no test reaches unless it hangs.
var soon: ContinuousClock.Instant { .now + .seconds(60) }

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
/// Waits until another thread or the server has done something.
func eventually(_ text: String, _ condition: () throws -> Bool) rethrows {
    let deadline = soon
    var isTrue = try condition()
    while !isTrue, ContinuousClock.now < deadline {
        SystemThread.sleep(milliseconds: 1)
        isTrue = try condition()
    }
    expect(isTrue, text)
}

/// A thread of a test, which can be waited for.
final class Job: Sendable {
    private let isFinished = Monitor(false)

    init(_ body: @escaping @Sendable () -> Void) throws {
        try SystemThread.start(named: "job") { [isFinished] in
            body()
            isFinished.withLock { $0 = true }
            isFinished.broadcast()
        }
    }

    func wait() { isFinished.wait { $0 ? () : nil } }
}

/// Runs a command with the shell, and returns whether it succeeded.
@discardableResult
func shell(_ command: String) -> Bool {
    var process: pid_t = 0
    let arguments = ["/bin/sh", "-c", command]
    let copies = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    guard unsafe posix_spawn(&process, "/bin/sh", nil, nil, copies, environ) == 0 else { return false }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status == 0
}
#endif

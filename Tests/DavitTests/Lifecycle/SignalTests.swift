import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The path of the program for these tests, in the same folder as the test binary.
private let program: String = {
    let own = CommandLine.arguments[0]
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/TwoServers"
}()

/// Stopping on signals (W020 in docs/coming-from-gcdwebserver.md). The signals are real, so they are sent to
/// a separate process.
@Suite(.timeLimit(.minutes(15)), .enabled(if: unsafe access(program, X_OK) == 0, "the program was not built"))
struct SignalTests {
    @Test func signalStopsAllServersOfAProcessOnce() throws {
        let folder = try TemporaryFolder()
        let script = """
            says='\(folder.path)/says'
            mkfifo "$says" || exit 1
            '\(program)' >"$says" & pid=$!
            (trap 'kill $!' TERM; sleep 600 & wait $! && kill -9 $pid) >/dev/null 2>&1 & watch=$!
            exec 3<"$says"
            read -r line <&3 && [ "$line" = 'two run' ] && kill -TERM $pid &&
                read -r line <&3 && [ "$line" = 'one runs' ] && kill -TERM $pid &&
                read -r line <&3 && [ "$line" = 'none runs' ] && wait $pid
            status=$?
            kill $pid $watch 2>/dev/null
            exit $status
            """
        #expect(unsafe system(script) == 0)
    }
}

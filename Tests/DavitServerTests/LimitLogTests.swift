import DavitHTTP
import DavitServer
import Synchronization
import Testing

struct LimitLogTests {
    /// One line is logged per cause and minute, with the client of the first refusal and the number of lines
    /// suppressed before.
    @Test func refusalsAreLoggedOncePerMinuteAndCause() {
        let lines = Mutex<[LimitRefusal]>([])
        let log = LimitLog { line in lines.withLock { $0.append(line) } }
        func refuse(_ cause: StaticString, _ account: String?, at seconds: Int64) {
            log.refused(cause, account: account, address: "192.0.2.1", now: Timestamp(seconds: seconds))
        }
        refuse("locks", "anna", at: 100)
        refuse("locks", "bert", at: 100)
        refuse("uploads", nil, at: 101)
        refuse("locks", "anna", at: 159)
        refuse("locks", "carl", at: 160)
        refuse("locks", "carl", at: 161)
        // The clock has been set back.
        refuse("locks", "dora", at: 50)
        func line(_ cause: String, _ account: String?, _ suppressed: Int) -> LimitRefusal {
            LimitRefusal(
                cause: cause, account: account, address: "192.0.2.1", suppressedCount: suppressed)
        }
        #expect(
            lines.withLock { $0 } == [
                line("locks", "anna", 0), line("uploads", nil, 0), line("locks", "carl", 2),
                line("locks", "dora", 1),
            ])
    }
}

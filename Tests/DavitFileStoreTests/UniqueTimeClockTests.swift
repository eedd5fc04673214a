import DavitFileStore
import DavitHTTP
import DavitStore
import Testing

/// The times that the clock generates, tested through the store.
struct UniqueTimeClockTests {
    @Test(arguments: [nil, Timestamp(seconds: 5), Timestamp(seconds: -5)])
    func timesAreMicrosecondsButNotWholeMilliseconds(time: Timestamp?) throws {
        let sandbox = try Sandbox(on: .memory)
        let store = try sandbox.store()
        for _ in 0..<3000 {
            let modified = try store.put("", at: resource("file"), modified: time).modified.nanoseconds
            #expect(modified % 1_000 == 0)
            #expect(modified % 1_000_000 != 0)
        }
    }

    @Test func timesOnlyIncrease() throws {
        let sandbox = try Sandbox(on: .memory)
        let store = try sandbox.store()
        var last = Timestamp(seconds: 0)
        for _ in 0..<1000 {
            let modified = try store.put("", at: resource("file")).modified
            #expect(modified > last)
            last = modified
        }
    }

    /// A system clock at the end of its range does not advance, but generated times do.
    @Test(arguments: [Int64.max, .max - 1, 0, .min])
    func timesIncreaseAtTheLimitsOfTheRange(now: Int64) {
        let clock = UniqueTimeClock()
        var last = Int64.min
        for _ in 0..<3000 {
            let next = clock.next(now: now)
            #expect(next > last)
            last = next
        }
    }
}

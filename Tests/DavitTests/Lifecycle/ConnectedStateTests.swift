import Davit
import Testing

/// The times at which the connection of the first client and the disconnection of the last one are reported
/// (W014 and W038 in docs/coming-from-gcdwebserver.md).
struct ConnectedStateTests {
    /// A manual clock, the pending timer, and the reported events.
    private struct Bench {
        var state: ConnectedState
        var now: Int64 = 0
        var timer: Int64?
        var told: [Bool] = []

        init(interval: Int64) { state = ConnectedState(interval: interval) }

        mutating func occupy() { note(state.becameOccupied()) }
        mutating func vacate() { note(state.becameVacant(now: now)) }
        mutating func stop() {
            timer = nil
            note(state.serverStopped())
        }

        mutating func advance(to time: Int64) {
            now = time
            while let due = timer, due <= now {
                timer = nil
                note(state.timerFired(now: now))
            }
        }

        private mutating func note(_ action: ConnectedState.Action?) {
            switch action {
            case .tellConnected: told.append(true)
            case .tellDisconnected: told.append(false)
            case .startTimer(let nanoseconds):
                #expect(timer == nil, "at most one timer should be pending")
                #expect(nanoseconds > 0)
                timer = now + nanoseconds
            case nil: break
            }
        }
    }

    @Test func shortDisconnectionIsNotReported() {
        var bench = Bench(interval: 1000)
        bench.occupy()
        #expect(bench.told == [true])
        for start in stride(from: 0, to: 100_000, by: 1998) as StrideTo<Int64> {
            bench.advance(to: start)
            bench.vacate()
            bench.advance(to: start + 999)
            bench.occupy()
            #expect(bench.told == [true])
        }
        bench.advance(to: 200_000)
        #expect(bench.told == [true])
        #expect(bench.timer == nil)
    }

    @Test func delayStartsAtTheLastDisconnection() {
        var bench = Bench(interval: 1000)
        bench.occupy()
        bench.vacate()
        bench.advance(to: 900)
        bench.occupy()
        bench.vacate()
        bench.advance(to: 1899)
        #expect(bench.told == [true])
        bench.advance(to: 1900)
        #expect(bench.told == [true, false])
        bench.occupy()
        #expect(bench.told == [true, false, true])
    }

    @Test(arguments: [0, -1] as [Int64])
    func withoutADelayEveryChangeIsReported(interval: Int64) {
        var bench = Bench(interval: interval)
        for _ in 0..<3 {
            bench.occupy()
            bench.vacate()
        }
        #expect(bench.told == [true, false, true, false, true, false])
        #expect(bench.timer == nil)
    }

    @Test func serverStopReportsTheDisconnection() {
        var bench = Bench(interval: 1000)
        bench.stop()
        #expect(bench.told == [])
        bench.occupy()
        bench.stop()
        #expect(bench.told == [true, false])
        bench.occupy()
        bench.vacate()
        bench.stop()
        #expect(bench.told == [true, false, true, false])
        // The timers of the previous run are cancelled and do not affect the next run.
        bench.occupy()
        bench.vacate()
        bench.advance(to: 1000)
        #expect(bench.told == [true, false, true, false, true, false])
    }

    /// A client that connected before observation began is not reported as disconnected.
    @Test func disconnectionWithoutAConnectionIsNotReported() {
        var bench = Bench(interval: 1000)
        bench.vacate()
        bench.advance(to: 5000)
        #expect(bench.told == [])
    }
}

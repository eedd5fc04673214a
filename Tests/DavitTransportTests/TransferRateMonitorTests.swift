import DavitTransport
import Testing

struct TransferRateMonitorTests {
    /// Returns a monitor that requires 10 bytes in each window of 10 seconds spent waiting.
    static func make() -> TransferRateMonitor {
        TransferRateMonitor(window: 10_000_000_000, bytesPerSecond: 1)
    }

    static func seconds(_ count: Int64) -> Int64 { count * 1_000_000_000 }

    @Test func onlyWaitingTimeCounts() {
        var guardian = Self.make()
        #expect(guardian.beginWait(now: 0) == Self.seconds(10))
        guardian.endWait(now: Self.seconds(4))
        // A hundred seconds pass without waiting for the peer.
        #expect(guardian.beginWait(now: Self.seconds(104)) == Self.seconds(110))
    }

    @Test func enoughBytesStartANewWindow() {
        var guardian = Self.make()
        _ = guardian.beginWait(now: 0)
        guardian.endWait(now: Self.seconds(9))
        guardian.didMove(10)
        #expect(guardian.beginWait(now: Self.seconds(9)) == Self.seconds(19))
    }

    @Test func tooFewBytesDoNotStartANewWindow() {
        var guardian = Self.make()
        _ = guardian.beginWait(now: 0)
        guardian.endWait(now: Self.seconds(9))
        guardian.didMove(9)
        #expect(guardian.beginWait(now: Self.seconds(9)) == Self.seconds(10))
    }

    /// The longest window, which represents an infinite duration.
    @Test func rateOfALongWindowSaturates() {
        var guardian = TransferRateMonitor(window: .max / 2, bytesPerSecond: .max)
        #expect(guardian.beginWait(now: 5) == .max / 2 + 5)
        guardian.didMove(1000)
        guardian.endWait(now: 10)
        #expect(guardian.beginWait(now: 10) == .max / 2 + 5)
    }
}

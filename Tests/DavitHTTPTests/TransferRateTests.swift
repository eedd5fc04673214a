import DavitHTTP
import DavitTesting
import Testing

struct TransferRateTests {
    private static let second: Int64 = 1_000_000_000

    /// Several connections transfer pieces as soon as they may. In no period is more transferred than the rate allows, with the
    /// bytes of one second after a pause and one piece of each connection.
    @Test(arguments: 0..<50)
    func bytesOfAnyPeriodAreLimited(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bytesPerSecond = Int.random(in: 1...10_000_000, using: &generator)
        let piece = Int.random(in: 1...1_000_000, using: &generator)
        let connections = Int.random(in: 1...5, using: &generator)
        let rate = TransferRate(bytesPerSecond: bytesPerSecond)
        var now = Int64.random(in: 0...(100 * Self.second), using: &generator)
        var sent: [(time: Int64, bytes: Int)] = []
        for _ in 0..<300 {
            // Sometimes all connections are idle for a while.
            if Int.random(in: 0..<20, using: &generator) == 0 {
                now += Int64.random(in: 0...(3 * Self.second), using: &generator)
            }
            now = max(now, rate.readyTime)
            for _ in 0..<Int.random(in: 1...connections, using: &generator) {
                let bytes = Int.random(in: 1...piece, using: &generator)
                rate.charge(bytes, now: now)
                sent.append((now, bytes))
            }
        }
        for first in stride(from: 0, to: sent.count, by: 7) {
            var sum = 0
            for (time, bytes) in sent[first...] {
                sum += bytes
                let seconds = Double(time - sent[first].time) / Double(Self.second)
                let allowed = Double(bytesPerSecond) * (seconds + 1) + Double(piece * connections)
                #expect(Double(sum) <= allowed * 1.000_001)
            }
        }
    }

    /// The rate is used completely: a client that transfers whenever it may transfers as much as the rate allows.
    @Test func rateIsReached() {
        let rate = TransferRate(bytesPerSecond: 1_000_000)
        var (now, sum) = (Int64(0), 0)
        while now < 100 * Self.second {
            rate.charge(125_000, now: now)
            sum += 125_000
            // Timers are late by up to a quarter of a second.
            now = max(now, rate.readyTime + Self.second / 4)
        }
        #expect((100_000_000...101_500_000).contains(sum))
    }

    @Test func firstSecondIsNotSlowedDown() {
        let rate = TransferRate(bytesPerSecond: 1000)
        let now = 50 * Self.second
        rate.charge(1000, now: now)
        #expect(rate.readyTime <= now)
        rate.charge(1, now: now)
        #expect(rate.readyTime > now)
        #expect(!rate.isUnused(now: now))
        #expect(rate.isUnused(now: now + 2 * Self.second))
    }

    @Test func lowestRateOfAClientApplies() {
        let (fast, slow) = (TransferRate(bytesPerSecond: 8_000_000), TransferRate(bytesPerSecond: 1_600_000))
        let pacer = TransferPacer(sending: [fast, slow], receiving: [fast])
        #expect(pacer.pieceBytes == 200_000)
        pacer.didSend(3_200_000, now: 0)
        #expect(pacer.sendingTime == Self.second && pacer.receivingTime < 0)
        #expect(TransferPacer(sending: [TransferRate(bytesPerSecond: 1)], receiving: []).pieceBytes == 16_384)
    }
}

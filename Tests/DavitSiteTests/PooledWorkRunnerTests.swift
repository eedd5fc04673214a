import DavitSite
import Synchronization
import Testing

@testable import DavitSystem

/// The work of handlers on a pool of threads.
@Suite("Pooled work")
struct PooledWorkRunnerTests {
    @Test("Work of a sequence runs after other work of the sequence, and other work in parallel")
    func sequence() async {
        // No job takes long, because the clock does not advance.
        let pool = BlockingPool(
            threads: 3, queueLimit: 10, longWork: LongWorkLimits(), priority: .normal, now: { 0 })
        let runner = PooledWorkRunner(pool: pool)
        let (hasBegun, mayEnd) = (Latch(count: 1), Latch(count: 1))
        let order = Order()
        async let first: Void? = runner.run(sequence: 1) {
            hasBegun.countDown()
            mayEnd.wait()
            order.append(1)
        }
        await runner.run { hasBegun.wait() }
        async let second: Void? = runner.run(sequence: 1) { order.append(2) }
        await runner.run(sequence: 2) { order.append(0) }
        mayEnd.countDown()
        _ = await (first, second)
        #expect(order.numbers == [0, 1, 2])
        pool.shutdown()
    }

    private final class Order: Sendable {
        private let value = Mutex<[Int]>([])
        var numbers: [Int] { value.withLock { $0 } }
        func append(_ number: Int) { value.withLock { $0.append(number) } }
    }
}

import DavitSystem
import Synchronization
import Testing

struct BlockingPoolTests {
    @Test func resultsAreReturned() async {
        let pool = BlockingPool(threads: 3)
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<500 { group.addTask { await pool.run { index * 2 } == index * 2 } }
            for await isRight in group { #expect(isRight) }
        }
        pool.shutdown()
    }

    @Test func fullQueueRefusesJobs() async throws {
        let pool = BlockingPool(threads: 1, queueLimit: 1)
        let hasBegun = Latch(count: 1)
        let mayEnd = Latch(count: 1)
        async let running = pool.run { () -> Int in
            hasBegun.countDown()
            mayEnd.wait()
            return 1
        }
        hasBegun.wait()
        // Two jobs compete for the single place in the queue; the refused one releases the latch.
        async let first = Self.release(mayEnd, ifRefusedBy: pool)
        async let second = Self.release(mayEnd, ifRefusedBy: pool)
        let outcomes = await [first, second]
        #expect(outcomes.filter { !$0 }.count == 1)
        #expect(await running == 1)
        pool.shutdown()
    }

    private static func release(_ latch: Latch, ifRefusedBy pool: BlockingPool) async -> Bool {
        if await pool.run({ true }) != nil { return true }
        latch.countDown()
        return false
    }

    @Test func shutdownFinishesJobsAndRefusesOthers() async {
        let pool = BlockingPool(threads: 2)
        let done = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = await pool.run { done.increment() } } }
        }
        pool.shutdown()
        #expect(done.count == 100)
        #expect(await pool.run { 1 } == nil)
    }

    /// An object that is not `Sendable` can be created on the pool and returned.
    @Test func nonSendableObjectCanBeReturned() async {
        final class Plain { var value = 0 }
        let pool = BlockingPool(threads: 1)
        let plain = await pool.run { () -> Plain in
            let made = Plain()
            made.value = 7
            return made
        }
        #expect(plain?.value == 7)
        pool.shutdown()
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        var count: Int { value.load(ordering: .relaxed) }

        func increment() { value.add(1, ordering: .relaxed) }
    }
}

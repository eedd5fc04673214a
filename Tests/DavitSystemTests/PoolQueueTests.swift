import DavitTesting
import Synchronization
import Testing

@testable import DavitSystem

/// The order of the jobs of a pool, of which some run one after the other while they are brief.
@Suite("Queue of a pool")
struct PoolQueueTests {
    private static let brief = PoolQueue.briefNanoseconds
    private static let longest = PoolQueue.longestNanoseconds

    /// A queue with a clock.
    private struct Pool {
        var queue = PoolQueue()
        var now: Int64 = 0

        mutating func submit(_ sequence: Int?) -> PoolJob {
            let job = PoolJob()
            job.sequence = sequence
            queue.append(job)
            return job
        }

        mutating func begin() -> PoolJob? { queue.removeFirst(at: now) }

        mutating func end(_ job: PoolJob, after duration: Int64 = 1) {
            now += duration
            queue.ended(job, at: now)
        }

        /// Runs all jobs one after the other.
        mutating func drain(_ duration: Int64 = 1) {
            while let job = begin() { end(job, after: duration) }
        }

        /// Runs jobs that take `duration`, until jobs of the sequence run in parallel.
        mutating func slowDown(_ sequence: Int, _ duration: Int64) {
            for _ in 0..<1_000 {
                _ = (submit(sequence), submit(sequence))
                if queue.waitingCount == 0 { return }
                if let job = begin() { end(job, after: duration) }
            }
        }
    }

    @Test("Jobs of a sequence run one after the other, in order of arrival, and others in parallel")
    func order() {
        var pool = Pool()
        let jobs = (0..<3).map { _ in pool.submit(1) }
        let other = pool.submit(2)
        let parallel = pool.submit(nil)
        #expect(pool.queue.runnableCount == 3)
        #expect(pool.queue.waitingCount == 2)
        #expect(pool.begin() === jobs[0])
        #expect(pool.begin() === other)
        #expect(pool.begin() === parallel)
        #expect(pool.begin() == nil)
        pool.end(other)
        pool.end(parallel)
        #expect(pool.begin() == nil)
        pool.end(jobs[0])
        #expect(pool.begin() === jobs[1])
        #expect(pool.begin() == nil)
        pool.end(jobs[1])
        #expect(pool.begin() === jobs[2])
        pool.end(jobs[2])
        #expect(pool.queue.count == 0)
    }

    @Test("Jobs that waited for others begin in order of arrival, too")
    func fairness() {
        var pool = Pool()
        let first = pool.submit(1)
        let older = pool.submit(nil)
        let second = pool.submit(1)
        let younger = pool.submit(nil)
        #expect(pool.begin() === first)
        pool.end(first)
        #expect(pool.begin() === older)
        #expect(pool.begin() === second)
        #expect(pool.begin() === younger)
    }

    /// Clients that change one folder, and others that do something else, alternate on a single thread.
    @Test("No client is served more often than another one, however many belong to a sequence")
    func shares() {
        var pool = Pool()
        var waits: [Bool: Int] = [:]
        var arrival: [ObjectIdentifier: (time: Int64, isSequenced: Bool, job: PoolJob)] = [:]
        func submit(_ isSequenced: Bool) {
            let job = pool.submit(isSequenced ? 1 : nil)
            arrival[ObjectIdentifier(job)] = (pool.now, isSequenced, job)
        }
        for index in 0..<100 { submit(index % 2 == 0) }
        for _ in 0..<10_000 {
            guard let job = pool.begin(), let begun = arrival.removeValue(forKey: ObjectIdentifier(job))
            else {
                Issue.record("no job is runnable")
                return
            }
            waits[begun.isSequenced] = max(waits[begun.isSequenced] ?? 0, Int(pool.now - begun.time))
            pool.end(job)
            submit(begun.isSequenced)
        }
        #expect(waits == [true: 99, false: 99])
    }

    @Test("Jobs that are not brief on average run in parallel, before they run one after the other again")
    func slowJobs() throws {
        var pool = Pool()
        pool.slowDown(1, Self.brief + 100)
        #expect(pool.queue.waitingCount == 0)
        // Another sequence is not affected.
        _ = (pool.submit(2), pool.submit(2))
        #expect(pool.queue.waitingCount == 1)
        // Without a running job, the sequence would be forgotten.
        let begun = pool.begin()
        let held = try #require(begun)
        var count = 0
        while let job = pool.begin() {
            if job.sequence == held.sequence { count += 1 }
            pool.end(job, after: 0)
        }
        while count < 1_000 {
            _ = (pool.submit(1), pool.submit(1))
            if pool.queue.waitingCount > 0 { break }
            pool.drain(0)
            count += 2
        }
        #expect(count / 2 == PoolQueue.parallelCount / 2)
    }

    @Test("Jobs that are always slow run one after the other only rarely")
    func alwaysSlowJobs() {
        var pool = Pool()
        var running: [PoolJob] = []
        var waitedCount = 0
        for _ in 0..<10_000 {
            _ = pool.submit(1)
            if pool.queue.waitingCount > 0 { waitedCount += 1 }
            while let job = pool.begin() { running.append(job) }
            if running.count == 4 || pool.queue.waitingCount > 0 {
                pool.end(running.removeFirst(), after: 5_000_000)
            }
        }
        #expect(waitedCount < 300)
    }

    @Test("A sequence without jobs is forgotten")
    func forgottenSequences() {
        var pool = Pool()
        pool.slowDown(1, 4_000_000)
        #expect(pool.queue.sequenceCount == 1)
        pool.drain()
        #expect(pool.queue.sequenceCount == 0)
        for sequence in 0..<100 {
            _ = (pool.submit(sequence), pool.submit(sequence))
            #expect(pool.queue.waitingCount == 1)
            pool.drain()
            #expect(pool.queue.sequenceCount == 0)
        }
    }

    @Test("One job that waits for a processor does not end the use of a sequence of brief ones")
    func singleLongJob() {
        var pool = Pool()
        let first = pool.submit(1)
        let second = pool.submit(1)
        _ = pool.submit(1)
        #expect(pool.begin() === first)
        pool.end(first, after: 1_000_000_000)
        #expect(pool.begin() === second)
        #expect(pool.queue.waitingCount == 1)
    }

    /// Also if the average of earlier jobs is long, but not too long.
    @Test("Jobs no longer wait for one that has run for very long", arguments: [1, 4_000_000])
    func stuckJob(earlier: Int64) throws {
        var pool = Pool()
        let jobs = (0..<4).map { _ in pool.submit(1) }
        #expect(pool.begin() === jobs[0])
        pool.end(jobs[0], after: earlier)
        #expect(pool.begin() === jobs[1])
        pool.now += Self.longest
        #expect(pool.begin() == nil)
        pool.now += Self.longest
        #expect(pool.begin() === jobs[2])
        #expect(pool.queue.waitingCount == 0)
        #expect(pool.begin() === jobs[3])
        // The others of the sequence now run in parallel.
        let next = (0..<2).map { _ in pool.submit(1) }
        #expect(pool.begin() === next[0])
        #expect(pool.begin() === next[1])
        for job in jobs[1...] + next { pool.end(job) }
        #expect(pool.queue.count == 0)
        #expect(pool.queue.sequenceCount == 0)
    }

    /// The order is that of a sorted list, while jobs of many sequences are submitted, begin and end at random.
    @Test("Runnable jobs begin in order of arrival", arguments: UInt64(1)...5)
    func randomOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var pool = Pool()
        // The jobs that have not begun, in order of arrival.
        var model: [PoolJob] = []
        var running: [PoolJob] = []
        for _ in 0..<5_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let sequence = Int.random(in: 0..<30, using: &random)
                model.append(pool.submit(sequence < 20 ? sequence : nil))
            case 2 where !running.isEmpty:
                pool.end(running.remove(at: Int.random(in: 0..<running.count, using: &random)))
            default:
                let busy = Set(running.compactMap(\.sequence))
                let expected = model.firstIndex { $0.sequence.map { !busy.contains($0) } ?? true }
                let job = pool.begin()
                #expect(job === expected.map { model[$0] })
                if let job, let expected {
                    model.remove(at: expected)
                    running.append(job)
                }
            }
        }
        #expect(pool.queue.count == model.count)
    }

    @Test("Released jobs begin in order of arrival, together with those of other sequences")
    func mergedReleases() {
        var pool = Pool()
        let first = [pool.submit(1), pool.submit(2)]
        let others = (0..<6).map { pool.submit(1 + $0 % 2) }
        #expect(pool.begin() === first[0])
        #expect(pool.begin() === first[1])
        pool.now += 2 * Self.longest
        for job in others { #expect(pool.begin() === job) }
        #expect(pool.queue.count == 0)
    }

    @Test("All jobs can be removed, including those that wait")
    func removal() {
        var pool = Pool()
        let jobs = (0..<6).map { pool.submit($0 % 2 == 0 ? 1 : nil) }
        var removed = pool.queue.removeAll()
        for job in jobs { #expect(removed.removeFirst() === job) }
        #expect(removed.count == 0)
        #expect(pool.queue.count == 0)
        #expect(pool.queue.waitingCount == 0)
        #expect(pool.queue.sequenceCount == 0)
    }

    // MARK: With threads

    private func makePool(
        threads: Int = 2, queueLimit: Int = 100, now: @escaping @Sendable () -> Int64 = { 0 }
    ) -> BlockingPool {
        BlockingPool(
            threads: threads, queueLimit: queueLimit, longWork: LongWorkLimits(), priority: .normal, now: now)
    }

    private func submit(_ sequence: Int, to pool: BlockingPool, _ work: @escaping @Sendable () -> Void) {
        let job = ClosureJob(sendable: work)
        job.sequence = sequence
        pool.submitOrRefuse(job)
    }

    @Test("A pool runs jobs of different sequences in parallel, and those of the same one after the other")
    func pool() async {
        let pool = makePool()
        let mayEnd = Latch(count: 1)
        let ended = Latch(count: 1)
        let hasRun = Atomic<Bool>(false)
        submit(1, to: pool) { mayEnd.wait() }
        submit(1, to: pool) {
            hasRun.store(true, ordering: .relaxed)
            ended.countDown()
        }
        // The second thread would have run the second job before this one.
        #expect(await pool.run(sendable: { 2 }, sequence: 2) == 2)
        let wasEarly = hasRun.load(ordering: .relaxed)
        #expect(!wasEarly)
        mayEnd.countDown()
        ended.wait()
        pool.shutdown()
    }

    /// Nothing else is submitted that could release them.
    @Test("Jobs that wait for one that does not end begin by themselves, in parallel")
    func stuckJobOfPool() {
        let time = Atomic<Int64>(1)
        let threadCount = 3
        let pool = makePool(threads: threadCount, now: { time.load(ordering: .relaxed) })
        // Each job waits for all others.
        let barrier = Latch(count: threadCount)
        let ended = Latch(count: threadCount)
        let hasBegun = Latch(count: 1)
        submit(1, to: pool) {
            hasBegun.countDown()
            barrier.countDown()
            barrier.wait()
            ended.countDown()
        }
        hasBegun.wait()
        for _ in 1..<threadCount {
            submit(1, to: pool) {
                barrier.countDown()
                barrier.wait()
                ended.countDown()
            }
        }
        time.store(10 * Self.longest, ordering: .relaxed)
        ended.wait()
        pool.shutdown()
    }

    @Test("Jobs that wait for others of their sequence count for the limit, and end before a shutdown")
    func limit() async {
        let pool = makePool(queueLimit: 3)
        let mayEnd = Latch(count: 1)
        let hasBegun = Latch(count: 1)
        let count = Atomic<Int>(0)
        submit(1, to: pool) {
            hasBegun.countDown()
            mayEnd.wait()
        }
        hasBegun.wait()
        for _ in 0..<3 { submit(1, to: pool) { count.add(1, ordering: .relaxed) } }
        #expect(await pool.run(sendable: { 1 }, sequence: 1) == nil)
        #expect(await pool.run { 1 } == nil)
        mayEnd.countDown()
        pool.shutdown()
        let done = count.load(ordering: .relaxed)
        #expect(done == 3)
    }

    @Test("All jobs of a mixture run once")
    func mixture() async {
        let pool = BlockingPool(threads: 3)
        let sum = await withTaskGroup(of: Int.self) { group in
            for index in 0..<2_000 {
                group.addTask {
                    let sequence = index % 7
                    return await pool.run(sendable: { index }, sequence: sequence == 0 ? nil : sequence) ?? 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 1_999_000)
        pool.shutdown()
    }
}

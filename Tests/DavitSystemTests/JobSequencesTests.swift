import Synchronization
import Testing

@testable import DavitSystem

/// Jobs of a pool that run one after the other while they are brief.
@Suite("Job sequences")
struct JobSequencesTests {
    private static let brief = JobSequences.briefNanoseconds
    private static let longest = JobSequences.longestNanoseconds

    /// The sequences of a pool, and its queue.
    private struct Pool {
        var sequences = JobSequences()
        var queue = PoolJobList()
        var now: Int64 = 0

        mutating func submit(_ sequence: Int?) -> PoolJob {
            let job = PoolJob()
            job.sequence = sequence
            sequences.append(job, to: &queue, now: now)
            return job
        }

        /// Takes the first job from the queue.
        mutating func begin() -> PoolJob? {
            let job = queue.removeFirst()
            job?.begin = now
            return job
        }

        mutating func end(_ job: PoolJob, after duration: Int64) {
            now += duration
            sequences.ended(job, at: now, queue: &queue)
        }
    }

    @Test("Jobs of a sequence are queued one after the other, in order of arrival, and others immediately")
    func order() throws {
        var pool = Pool()
        let jobs = (0..<3).map { _ in pool.submit(1) }
        let other = pool.submit(2)
        let parallel = pool.submit(nil)
        #expect(pool.queue.count == 3)
        #expect(pool.sequences.waitingCount == 2)
        #expect(pool.begin() === jobs[0])
        #expect(pool.begin() === other)
        #expect(pool.begin() === parallel)
        #expect(pool.begin() == nil)
        pool.end(other, after: 1)
        pool.end(parallel, after: 1)
        #expect(pool.begin() == nil)
        pool.end(jobs[0], after: 1)
        #expect(pool.begin() === jobs[1])
        #expect(pool.begin() == nil)
        pool.end(jobs[1], after: 1)
        #expect(pool.begin() === jobs[2])
        pool.end(jobs[2], after: 1)
        #expect(pool.sequences.waitingCount == 0)
        #expect(pool.queue.count == 0)
    }

    @Test("The next job of a sequence does not overtake jobs that are already queued")
    func fairness() throws {
        var pool = Pool()
        let first = pool.submit(1)
        let second = pool.submit(1)
        #expect(pool.begin() === first)
        let other = pool.submit(nil)
        pool.end(first, after: 1)
        #expect(pool.begin() === other)
        #expect(pool.begin() === second)
    }

    @Test("Jobs that are not brief on average run in parallel, until they are brief again")
    func slowJobs() throws {
        var pool = Pool()
        var count = 0
        while pool.queue.count < 2, count < 1_000 {
            while let job = pool.begin() { pool.end(job, after: Self.brief + 100) }
            _ = (pool.submit(1), pool.submit(1))
            count += 1
        }
        #expect(pool.queue.count == 2)
        #expect(pool.sequences.waitingCount == 0)
        // Another sequence is not affected.
        _ = (pool.submit(2), pool.submit(2))
        #expect(pool.queue.count == 3)
        while let job = pool.begin() { pool.end(job, after: 0) }
        for _ in 0..<16 {
            let job = pool.submit(1)
            #expect(pool.begin() === job)
            pool.end(job, after: 0)
        }
        _ = (pool.submit(1), pool.submit(1))
        #expect(pool.queue.count == 1)
        #expect(pool.sequences.waitingCount == 1)
    }

    @Test("One job that waits long for a processor does not end a sequence of brief ones")
    func singleLongJob() throws {
        var pool = Pool()
        let first = pool.submit(1)
        let second = pool.submit(1)
        _ = pool.submit(1)
        #expect(pool.begin() === first)
        pool.end(first, after: 1_000_000_000)
        #expect(pool.begin() === second)
        #expect(pool.sequences.waitingCount == 1)
    }

    @Test("When a job has run for very long, the next job of the sequence releases those that wait for it")
    func stuckJob() throws {
        var pool = Pool()
        let stuck = pool.submit(1)
        let waiting = pool.submit(1)
        #expect(pool.begin() === stuck)
        pool.now += Self.longest
        let early = pool.submit(1)
        #expect(pool.queue.count == 0)
        pool.now += 1
        let late = pool.submit(1)
        #expect(pool.sequences.waitingCount == 0)
        #expect(pool.begin() === waiting)
        #expect(pool.begin() === early)
        #expect(pool.begin() === late)
        // The last one now leads the sequence; the end of the others changes nothing.
        let next = pool.submit(1)
        pool.end(stuck, after: 0)
        pool.end(waiting, after: 0)
        #expect(pool.queue.count == 0)
        pool.end(late, after: 0)
        #expect(pool.begin() === next)
    }

    @Test("A job that cannot run takes those that wait for it with it")
    func removal() throws {
        var pool = Pool()
        let jobs = (0..<3).map { _ in pool.submit(1) }
        var removed = pool.sequences.removeJobs(waitingFor: jobs[0])
        #expect(removed.removeFirst() === jobs[1])
        #expect(removed.removeFirst() === jobs[2])
        #expect(removed.count == 0)
        #expect(pool.sequences.waitingCount == 0)
    }

    // MARK: With threads

    private func makePool(queueLimit: Int = 100) -> BlockingPool {
        BlockingPool(
            threads: 2, queueLimit: queueLimit, longWork: LongWorkLimits(), priority: .normal, now: { 0 })
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

/// The jobs of a ``BlockingPool`` that have not begun. They begin in order of arrival, except that jobs of the same
/// sequence usually run one after the other.
///
/// Jobs belong to the same sequence if in parallel they would only wait for each other. Changes of names in one folder,
/// for example, lock the folder in the kernel. Threads that wait for the lock spin and then sleep: the changes use more
/// processor time, and are not faster. One job of a sequence, its leader, is therefore runnable or running, and the
/// others wait until it ends.
///
/// On a slow volume, most of the time is spent waiting for the volume, which several threads can do simultaneously. If
/// the leaders of a sequence are not brief on average, or one of them takes very long, the next jobs of the sequence run
/// in parallel, before it is tried again.
///
/// Belongs to the lock of the pool. A call takes constant time, except that each released job takes time logarithmic in
/// the number of those that have been released and not begun.
struct PoolQueue {
    /// The longest average duration, in nanoseconds, of jobs that run one after the other. Changes on a local disk
    /// usually take less than half.
    static let briefNanoseconds: Int64 = 500_000
    /// When a leader has run for longer, in nanoseconds, the others no longer wait for it.
    static let longestNanoseconds: Int64 = 10_000_000
    /// The number of jobs of a sequence that run in parallel before it is tried again.
    static let parallelCount = 256
    /// The maximum that a single job adds to the average, in nanoseconds: it may have waited for a processor.
    private static let countedNanoseconds: Int64 = 4_000_000

    private struct Sequence {
        /// Always nil while jobs run in parallel.
        var leader: PoolJob?
        /// The jobs that wait for the leader.
        var waiting = PoolJobList()
        /// The number of jobs that do not wait and have not ended.
        var activeCount = 0
        /// The number of jobs that have yet to end before one becomes the leader again.
        var parallelLeft = 0
        /// The moving average of the duration of the leaders, in nanoseconds.
        var average: Int64 = 0

        /// Returns whether the job is runnable. If not, it waits.
        mutating func admit(_ job: PoolJob) -> Bool {
            if leader != nil {
                waiting.append(job)
                return false
            }
            if parallelLeft == 0 { leader = job }
            activeCount += 1
            return true
        }

        /// Records the end of a job, and returns the jobs that become runnable.
        mutating func ended(_ job: PoolJob, at now: Int64) -> PoolJobList {
            activeCount -= 1
            if parallelLeft > 0 {
                parallelLeft -= 1
                if parallelLeft == 0 { average = 0 }
                return PoolJobList()
            }
            guard leader === job else { return PoolJobList() }
            average += (min(now - job.begin, PoolQueue.countedNanoseconds) - average) / 16
            if average > PoolQueue.briefNanoseconds { return runInParallel() }
            var runnable = PoolJobList()
            leader = waiting.removeFirst()
            if let leader {
                activeCount += 1
                runnable.append(leader)
            }
            return runnable
        }

        /// Returns the waiting jobs, which become runnable.
        mutating func runInParallel() -> PoolJobList {
            let runnable = waiting
            waiting = PoolJobList()
            activeCount += runnable.count
            leader = nil
            parallelLeft = PoolQueue.parallelCount
            return runnable
        }

        func isLate(at now: Int64) -> Bool {
            guard let leader, waiting.count > 0, leader.begin != .max else { return false }
            return now - leader.begin > PoolQueue.longestNanoseconds
        }
    }

    /// The sequences of jobs that have not ended.
    private var sequences: [Int: Sequence] = [:]
    /// Runnable jobs that never waited for another one, in order of arrival.
    private var arrived = PoolJobList()
    /// Runnable jobs that waited for others of their sequences.
    private var released = PoolJobHeap()
    private var lastNumber: UInt64 = 0
    /// When the next search for late leaders is due.
    private var searchTime = Int64.min

    /// The number of jobs that wait for others of their sequences.
    private(set) var waitingCount = 0

    var runnableCount: Int { arrived.count + released.count }

    var count: Int { runnableCount + waitingCount }

    /// The number of sequences with jobs that have not ended.
    var sequenceCount: Int { sequences.count }

    mutating func append(_ job: PoolJob) {
        lastNumber += 1
        job.number = lastNumber
        if let sequence = job.sequence, !sequences[sequence, default: Sequence()].admit(job) {
            waitingCount += 1
        } else {
            arrived.append(job)
        }
    }

    /// Removes the runnable job that arrived first; its begin is `now`.
    mutating func removeFirst(at now: Int64) -> PoolJob? {
        if waitingCount > 0, now >= searchTime {
            searchTime = now + Self.longestNanoseconds
            releaseLate(at: now)
        }
        let job = removeRunnable()
        job?.begin = now
        return job
    }

    private mutating func removeRunnable() -> PoolJob? {
        guard let waited = released.first, waited.number < arrived.first?.number ?? .max else {
            return arrived.removeFirst()
        }
        return released.removeFirst()
    }

    /// Records the end of a job, and of the wait for it.
    mutating func ended(_ job: PoolJob, at now: Int64) {
        guard let sequence = job.sequence, let index = sequences.index(forKey: sequence) else { return }
        release(sequences.values[index].ended(job, at: now))
        if sequences.values[index].activeCount == 0 { sequences.remove(at: index) }
    }

    /// Removes all jobs. No job may be running.
    mutating func removeAll() -> PoolJobList {
        for index in sequences.values.indices { release(sequences.values[index].runInParallel()) }
        sequences = [:]
        var removed = PoolJobList()
        while let job = removeRunnable() { removed.append(job) }
        return removed
    }

    /// Releases the jobs that wait for leaders that have run for too long.
    private mutating func releaseLate(at now: Int64) {
        var index = sequences.startIndex
        while index != sequences.endIndex {
            if sequences.values[index].isLate(at: now) { release(sequences.values[index].runInParallel()) }
            sequences.formIndex(after: &index)
        }
    }

    private mutating func release(_ jobs: PoolJobList) {
        var jobs = jobs
        waitingCount -= jobs.count
        while let job = jobs.removeFirst() { released.insert(job) }
    }
}

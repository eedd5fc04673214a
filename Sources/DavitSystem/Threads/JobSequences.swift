/// Jobs of a ``BlockingPool`` that run one after the other, because in parallel they would only wait for each other.
///
/// Changes of names in one folder lock the folder in the kernel. Threads that wait for the lock spin and then sleep: the
/// changes use more processor time, and are not faster. Such jobs belong to the same sequence, and only one of them is queued or running. The others
/// wait here.
///
/// On a slow volume, most of the time is spent waiting for the volume, which several threads can do simultaneously. A
/// sequence is therefore in use only while its jobs are brief on average, and not after one that takes very long.
///
/// Belongs to the lock of the pool. Every call takes constant time, apart from the end of a sequence.
struct JobSequences {
    private struct Sequence {
        /// The job that is queued or running; nil if the sequence is not in use.
        var current: PoolJob?
        var waiting = PoolJobList()
        /// The moving average of the duration of jobs, in nanoseconds.
        var average: Int64 = 0
    }

    /// Sequences are in use while the average is not longer. Changes on a local disk usually take less than half.
    static let briefNanoseconds: Int64 = 500_000
    /// When a job has run for longer, those that wait for it are released by the next job.
    static let longestNanoseconds: Int64 = 10_000_000
    /// The maximum that a single job adds to the average: it may have waited for a processor.
    private static let countedNanoseconds: Int64 = 4_000_000
    private static let count = 64

    private var sequences: [Sequence] = []
    /// The number of jobs that wait for others of their sequences.
    private(set) var waitingCount = 0

    /// Appends a job to the queue, or lets it wait for the job of the same sequence.
    mutating func append(_ job: PoolJob, to queue: inout PoolJobList, now: Int64) {
        guard let index = Self.index(of: job) else { return queue.append(job) }
        if sequences.isEmpty { sequences = Array(repeating: Sequence(), count: Self.count) }
        guard sequences[index].average <= Self.briefNanoseconds else { return queue.append(job) }
        if let current = sequences[index].current {
            guard current.begin != .max, now - current.begin > Self.longestNanoseconds else {
                sequences[index].waiting.append(job)
                waitingCount += 1
                return
            }
            releaseAll(index, into: &queue)
        }
        sequences[index].current = job
        queue.append(job)
    }

    /// Records the end of a job, and appends the next one of its sequence to the queue.
    mutating func ended(_ job: PoolJob, at now: Int64, queue: inout PoolJobList) {
        guard let index = Self.index(of: job) else { return }
        let duration = min(now - job.begin, Self.countedNanoseconds)
        sequences[index].average += (duration - sequences[index].average) / 16
        guard sequences[index].current === job else { return }
        if sequences[index].average > Self.briefNanoseconds { return releaseAll(index, into: &queue) }
        sequences[index].current = sequences[index].waiting.removeFirst()
        guard let next = sequences[index].current else { return }
        waitingCount -= 1
        queue.append(next)
    }

    /// Removes the jobs that wait for a job that will never run.
    mutating func removeJobs(waitingFor job: PoolJob) -> PoolJobList {
        var removed = PoolJobList()
        if let index = Self.index(of: job), !sequences.isEmpty, sequences[index].current === job {
            releaseAll(index, into: &removed)
        }
        return removed
    }

    /// Ends the use of a sequence.
    private mutating func releaseAll(_ index: Int, into queue: inout PoolJobList) {
        sequences[index].current = nil
        while let job = sequences[index].waiting.removeFirst() {
            waitingCount -= 1
            queue.append(job)
        }
    }

    /// Different numbers may share a sequence, which only makes their jobs slower.
    private static func index(of job: PoolJob) -> Int? { job.sequence.map { $0 & (count - 1) } }
}

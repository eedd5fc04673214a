/// The brief jobs that a thread runs itself instead of passing them to a ``BlockingPool``. Belongs to that thread.
package final class BriefJobs {
    /// The jobs of the present thread.
    static let ofThread = ThreadValue<BriefJobs>()

    /// Whether the thread takes jobs now. While false, all jobs run in their pools.
    package var isOpen = false

    private var jobs: [BriefJob] = []

    package init() {}

    package var isEmpty: Bool { jobs.isEmpty }

    /// Makes these jobs those of the present thread while `body` runs.
    package func ofThread<R>(during body: () -> R) -> R { Self.ofThread.with(self, body) }

    func append(_ job: BriefJob) { jobs.append(job) }

    /// Removes the oldest job. The caller must run it or submit it to its pool.
    package func removeFirst() -> BriefJob? { jobs.isEmpty ? nil : jobs.removeFirst() }

    /// Submits all jobs to their pools.
    package func submitAll() {
        guard !jobs.isEmpty else { return }
        // A refused job resumes its task, which may append another.
        let submitted = jobs
        jobs.removeAll(keepingCapacity: true)
        for job in submitted { job.submit() }
    }
}

/// A job that a thread can run itself, and the pool in which it can run otherwise.
package struct BriefJob {
    let job: PoolJob
    let pool: BlockingPool

    /// Does the work.
    package func perform() { job.perform() }

    /// Resumes the caller, after ``perform()``.
    package func complete() { job.complete() }

    /// Runs the job in its pool instead. If the pool refuses it, the caller resumes without a result.
    package func submit() { pool.submitOrRefuse(job) }
}

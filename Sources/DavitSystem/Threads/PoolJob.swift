/// A job that a thread of a ``BlockingPool`` runs once, or one with ``BriefJobs``.
///
/// The job is owned by the caller until it is queued, then by the queue, then by the thread that runs it,
/// and then by the caller again. The lock of the queue and the continuation order these accesses, which justifies
/// the unchecked conformance.
package class PoolJob: @unchecked Sendable {
    @safe @exclusivity(unchecked) fileprivate final var next: PoolJob?
    /// The number of the sequence that the job belongs to; nil if it may run in parallel with every other job. See
    /// ``PoolQueue``.
    @safe @exclusivity(unchecked) final var sequence: Int?
    /// The position in the order of arrival; set by the queue.
    @safe @exclusivity(unchecked) final var number: UInt64 = 0
    /// When the job began to run, on ``Clock``; `Int64.max` before.
    @safe @exclusivity(unchecked) final var begin = Int64.max

    /// Does the work.
    package func perform() {}

    /// Resumes the caller. Called once, after ``perform()``, or without it if the job was refused.
    package func complete() {}
}

/// A job with a closure, its result, and the task that waits for it. The conformance is unchecked for the
/// reason given for ``PoolJob``.
@safe final class ClosureJob<T>: PoolJob, @unchecked Sendable {
    @safe @exclusivity(unchecked) private var work: (() -> T)?
    @safe @exclusivity(unchecked) private var result: T?
    /// Resumed once, by ``complete()``.
    var continuation: UnsafeContinuation<Void, Never>?

    init(_ work: sending @escaping () -> sending T) { self.work = work }

    init(sendable work: @escaping @Sendable () -> T) where T: Sendable { self.work = work }

    override func perform() {
        result = work?()
        // Release the closure before the caller resumes, so that the caller has the only references to its
        // captures.
        work = nil
    }

    override func complete() { unsafe continuation?.resume() }

    /// Returns the result of ``perform()``; nil if it was not called.
    func takeResult() -> sending T? {
        // No other reference to the value exists, because the closure has been released.
        nonisolated(unsafe) let taken = result
        result = nil
        return unsafe taken
    }
}

/// A first-in, first-out queue of jobs as an intrusive linked list.
struct PoolJobList {
    private(set) var count = 0
    private(set) var first: PoolJob?
    private var last: PoolJob?

    mutating func append(_ job: PoolJob) {
        if let last { last.next = job } else { first = job }
        last = job
        count += 1
    }

    mutating func removeFirst() -> PoolJob? {
        guard let job = first else { return nil }
        first = job.next
        job.next = nil
        if first == nil { last = nil }
        count -= 1
        return job
    }
}

/// Jobs in a binary heap, ordered by their numbers.
struct PoolJobHeap {
    private var jobs: [PoolJob] = []

    var count: Int { jobs.count }
    var first: PoolJob? { jobs.first }

    mutating func insert(_ job: PoolJob) {
        jobs.append(job)
        var index = jobs.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            if jobs[parent].number < jobs[index].number { return }
            jobs.swapAt(parent, index)
            index = parent
        }
    }

    mutating func removeFirst() -> PoolJob? {
        guard let first = jobs.first, let last = jobs.popLast() else { return nil }
        if jobs.isEmpty { return first }
        jobs[0] = last
        var index = 0
        while true {
            var least = index
            for child in (2 * index + 1)..<(2 * index + 3) where child < jobs.count {
                if jobs[child].number < jobs[least].number { least = child }
            }
            if least == index { return first }
            jobs.swapAt(least, index)
            index = least
        }
    }
}

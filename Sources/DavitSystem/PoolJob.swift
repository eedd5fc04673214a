/// Something a thread of a ``BlockingPool`` does once.
///
/// The caller owns it until it is queued, then the pool, then the thread that runs it, then the caller again;
/// the lock of the queue and the continuation order those accesses. That makes the unchecked conformance true.
class PoolJob: @unchecked Sendable {
    fileprivate var next: PoolJob?

    func run() {}
}

/// A closure, its result, and the task that waits for it.
@safe final class Work<T>: PoolJob, @unchecked Sendable {
    private var work: (() -> T)?
    private var result: T?
    /// Resumed once, by ``run()`` or by who could not queue the job.
    var continuation: UnsafeContinuation<Void, Never>?

    init(_ work: sending @escaping () -> sending T) { self.work = work }

    override func run() {
        result = work?()
        // Before the caller goes on: what the closure holds is then the caller's alone, who can use it again.
        work = nil
        unsafe continuation?.resume()
    }

    /// What ``run()`` produced; nil if it never ran.
    func takeResult() -> sending T? {
        // Nobody else can reach the value: the closure that made it is gone from the pool.
        nonisolated(unsafe) let taken = result
        result = nil
        return unsafe taken
    }
}

/// Jobs in the order they came, linked through themselves.
struct PoolJobList {
    private(set) var count = 0
    private var first: PoolJob?
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

    /// O(n): for the rare job that finds no thread.
    mutating func remove(_ job: PoolJob) {
        var kept = PoolJobList()
        while let other = removeFirst() {
            if other !== job { kept.append(other) }
        }
        self = kept
    }
}

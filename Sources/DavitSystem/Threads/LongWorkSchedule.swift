/// Schedules long jobs: clients take turns, clients without a running job go first, and the jobs of one
/// client run in the order in which they arrived or paused.
///
/// A pure value, without threads or clocks. Each turn costs O(n) in the number of waiting clients.
package struct LongWorkSchedule {
    private struct Client {
        var waiting: [LongJob] = []
        var paused: [LongJob] = []
        var begun = 0
        var running = 0

        var isIdle: Bool { waiting.isEmpty && paused.isEmpty && begun == 0 }
    }

    private let limits: LongWorkLimits
    private var clients: [String: Client] = [:]
    /// The clients with a waiting or paused job, in order of their turns.
    private var turns: [String] = []
    private var running = 0
    private var begun = 0
    private var waiting = 0
    private var lastNumber: UInt64 = 0
    /// The total number of turns so far.
    package private(set) var turnCount = 0

    /// - Parameter limits: with ``LongWorkLimits/runningJobs`` resolved to the actual number.
    package init(_ limits: LongWorkLimits) { self.limits = limits }

    /// Whether any job that is not running is allowed to run now.
    package var hasNext: Bool { turns.contains(where: canRun) }

    /// Queues a job.
    /// - Parameter isAdmitted: whether the job belongs to work that was admitted earlier, and must not be
    ///   refused.
    /// - Returns: false, without queuing the job, if too many jobs are waiting.
    package mutating func add(_ job: LongJob, isAdmitted: Bool) -> Bool {
        var client = clients[job.client] ?? Client()
        guard
            isAdmitted
                || waiting < limits.waitingJobs && client.waiting.count < limits.waitingJobsPerClient
        else { return false }
        job.phase = .waiting
        job.number = nextNumber()
        client.waiting.append(job)
        waiting += 1
        clients[job.client] = client
        if !turns.contains(job.client) { turns.append(job.client) }
        return true
    }

    /// Starts the next turn and returns its job.
    /// - Returns: nil if the maximum number of jobs is running, or no job can run.
    package mutating func next() -> LongJob? {
        guard running < limits.runningJobs else { return nil }
        let index =
            turns.firstIndex { clients[$0]?.running == 0 && canRun($0) } ?? turns.firstIndex(where: canRun)
        guard let index else { return nil }
        let name = turns.remove(at: index)
        guard let job = takeJob(of: name) else { return nil }
        job.phase = .running
        running += 1
        turnCount += 1
        clients[name]?.running += 1
        if let client = clients[name], !client.waiting.isEmpty || !client.paused.isEmpty {
            turns.append(name)
        }
        return job
    }

    private mutating func takeJob(of name: String) -> LongJob? {
        guard let client = clients[name] else { return nil }
        let takesPaused =
            if let paused = client.paused.first {
                !(mayBegin(client) && (client.waiting.first.map { $0.number < paused.number } ?? false))
            } else {
                false
            }
        if takesPaused { return clients[name]?.paused.removeFirst() }
        waiting -= 1
        begun += 1
        clients[name]?.begun += 1
        return clients[name]?.waiting.removeFirst()
    }

    /// Ends the turn of a job that needs another one.
    package mutating func pause(_ job: LongJob) {
        job.phase = .paused
        job.number = nextNumber()
        running -= 1
        clients[job.client]?.running -= 1
        clients[job.client]?.paused.append(job)
        moveToEnd(job.client)
    }

    /// Ends the turn of a job that is done.
    package mutating func end(_ job: LongJob) {
        job.phase = .ended
        running -= 1
        begun -= 1
        clients[job.client]?.running -= 1
        clients[job.client]?.begun -= 1
        if turns.contains(job.client) { moveToEnd(job.client) }
        forgetIfIdle(job.client)
    }

    /// Removes a job that has not started.
    /// - Returns: false, without any change, if the job is not waiting.
    package mutating func remove(_ job: LongJob) -> Bool {
        guard job.phase == .waiting else { return false }
        job.phase = .ended
        waiting -= 1
        clients[job.client]?.waiting.removeAll { $0 === job }
        if let client = clients[job.client], client.waiting.isEmpty, client.paused.isEmpty {
            turns.removeAll { $0 == job.client }
        }
        forgetIfIdle(job.client)
        return true
    }

    /// Removes and returns the cancelable jobs that have not started.
    package mutating func removeCancellable() -> [LongJob] {
        let jobs = clients.values.flatMap(\.waiting).filter(\.isCancellable)
        return jobs.filter { remove($0) }
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Moves a client to the end of the rotation after its turn.
    private mutating func moveToEnd(_ client: String) {
        turns.removeAll { $0 == client }
        turns.append(client)
    }

    private mutating func forgetIfIdle(_ name: String) {
        if clients[name]?.isIdle == true { clients[name] = nil }
    }

    private func canRun(_ name: String) -> Bool {
        guard let client = clients[name] else { return false }
        return !client.paused.isEmpty || !client.waiting.isEmpty && mayBegin(client)
    }

    private func mayBegin(_ client: Client) -> Bool {
        client.begun < limits.begunJobsPerClient
            && begun < (client.begun == 0 ? limits.begunJobs : limits.begunJobs / 2)
    }
}

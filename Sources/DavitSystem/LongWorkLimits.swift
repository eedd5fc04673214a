/// Limits of ``LongWorkThreads``.
public struct LongWorkLimits: Sendable {
    /// Jobs that run at the same time; 0 for as many as there are cores.
    public var runningJobs = 0
    /// Jobs that have begun and not ended. Each of them holds a thread, also while it waits for its next turn.
    public var begunJobs = 64
    /// The same for one client. Its second and further jobs take at most half of ``begunJobs``, so that the first job
    /// of another client finds a thread.
    public var begunJobsPerClient = 8
    /// Jobs that wait to begin; more are refused.
    public var waitingJobs = 1024
    /// The same for one client.
    public var waitingJobsPerClient = 64
    /// Bytes that a job moves in one turn while other jobs wait.
    public var sliceBytes = 8 << 20
    /// How long a turn lasts while other jobs wait.
    public var slice = Duration.milliseconds(20)

    /// The defaults of the server.
    public init() {}
}

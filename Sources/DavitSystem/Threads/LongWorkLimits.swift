/// Limits of ``LongWorkThreads``.
public struct LongWorkLimits: Sendable {
    /// The maximum number of jobs that run concurrently; 0 means the number of cores.
    public var runningJobs = 0
    /// The maximum number of jobs that have started and not ended. Each occupies a thread, even while it
    /// waits for its next turn.
    public var begunJobs = 64
    /// The maximum number of started jobs per client. While a client has a started job, another of its jobs
    /// starts only if the total number of started jobs is less than half of ``begunJobs``, so that the first
    /// job of another client finds a thread.
    public var begunJobsPerClient = 8
    /// The maximum number of jobs that wait to start; any more are refused.
    public var waitingJobs = 1024
    /// The maximum number of waiting jobs per client.
    public var waitingJobsPerClient = 64
    /// The number of bytes that a job may process per turn while other jobs wait.
    public var sliceBytes = 8 << 20
    /// The duration of a turn while other jobs wait.
    public var slice = Duration.milliseconds(20)

    /// Creates the default limits.
    public init() {}
}

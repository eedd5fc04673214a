internal import DavitSystem

/// An executor that runs its tasks one after the other, and on which a test can wait until all of them are
/// suspended or finished. A test then knows that a task is waiting, without polling and without a clock.
package final class TestExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether a thread is running jobs.
        var isRunning = false
        /// Number of calls on other threads that tasks are waiting for.
        var callCount = 0
    }

    /// The executor of the current task, if it was started with ``start(_:)``.
    @TaskLocal private static var current: TestExecutor?

    private let state = Monitor(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        do { try SystemThread.start(named: "test-executor") { self.runJobs() } } catch {
            fatalError("cannot start a thread: \(error)")
        }
    }

    private func runJobs() {
        while let job = nextJob() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        state.broadcast()
    }

    private func nextJob() -> UnownedJob? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.jobs.removeFirst()
        }
    }

    /// Starts a task whose calls through ``waitingForCall(_:)`` count as running.
    package func start<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: self) {
            try await Self.$current.withValue(self) { try await body() }
        }
    }

    /// Performs `call`, which waits for work on another thread. Until it returns, the executor of the current
    /// task is not idle.
    package static func waitingForCall<Result>(_ call: () async -> Result) async -> Result {
        guard let executor = current else { return await call() }
        executor.state.withLock { $0.callCount += 1 }
        defer {
            executor.state.withLock { $0.callCount -= 1 }
            executor.state.broadcast()
        }
        return await call()
    }

    /// Blocks the calling thread until every task has finished or is waiting for something other than a call
    /// on another thread.
    package func waitUntilIdle() {
        state.wait { $0.isRunning || $0.callCount > 0 ? nil : () }
    }
}

internal import DavitSystem
internal import Synchronization

/// Watches the loops of a server while they run brief jobs. If a job takes too long, the watching thread continues the
/// loop, and another thread watches.
///
/// The thread starts with the first brief job, looks once in a millisecond as long as there are more, and otherwise
/// waits for the next.
final class LoopSupervisor: Sendable {
    /// A job that is found twice has run for at least this long.
    private static let tickMilliseconds = 1
    /// The number of ticks without a brief job after which the thread sleeps. Each costs about 5 µs, so for a single
    /// job they must cost less than the round trip that it saves.
    private static let idleTickLimit = 4

    private struct State {
        var hasThread = false
        var runningLoopCount: Int
    }

    private let loops: [EventLoop]
    private let threads: ThreadCompletion
    private let priority: ThreadPriority
    private let monitor: Monitor<State>
    private let isAwake = Atomic<Bool>(false)

    /// - Parameter threads: counts the threads of the server.
    init(_ loops: [EventLoop], threads: ThreadCompletion, priority: ThreadPriority) {
        self.loops = loops
        self.threads = threads
        self.priority = priority
        monitor = Monitor(State(runningLoopCount: loops.count))
    }

    /// Begins to watch, if it does not already. Called by a loop after it has published that it runs a job.
    /// - Returns: false if no thread could be started.
    func watch() -> Bool {
        if isAwake.load(ordering: .sequentiallyConsistent) { return true }
        let isWatched = monitor.withLock { state in
            if !state.hasThread { state.hasThread = startThread() }
            if state.hasThread { isAwake.store(true, ordering: .sequentiallyConsistent) }
            return state.hasThread
        }
        if isWatched { monitor.signal() }
        return isWatched
    }

    /// Records that a loop has ended. The thread ends after the last one.
    func loopEnded() {
        let isLast = monitor.withLock { state in
            state.runningLoopCount -= 1
            return state.runningLoopCount == 0
        }
        if isLast { monitor.signal() }
    }

    private func startThread() -> Bool {
        threads.add(1)
        let held = Held(self)
        do {
            try SystemThread.start(named: "davit-watch") { [threads] in
                held.take()?.lookAtLoops()
                threads.threadEnded()
            }
            return true
        } catch {
            // The calling thread still runs.
            _ = threads.remove(1)
            return false
        }
    }

    /// The main function of the thread.
    private func lookAtLoops() {
        var numbers = loops.map { $0.jobNumber.load(ordering: .relaxed) }
        var idleTicks = 0
        while !isOver {
            SystemThread.sleep(milliseconds: Self.tickMilliseconds)
            idleTicks += 1
            for (index, loop) in loops.enumerated() {
                let number = loop.jobNumber.load(ordering: .relaxed)
                let isSame = number == numbers[index]
                numbers[index] = number
                if isSame && !EventLoop.isOfJob(number) { continue }
                idleTicks = 0
                guard isSame, loop.takeOver(from: number) else { continue }
                startSuccessor()
                return run(loop, index)
            }
            if idleTicks >= Self.idleTickLimit {
                sleep()
                idleTicks = 0
            }
        }
    }

    /// Starts the thread that watches from now on. If that fails, loops pass their brief jobs to the pools until
    /// ``watch()`` can start one.
    private func startSuccessor() {
        monitor.withLock { state in
            state.hasThread = startThread()
            if !state.hasThread { isAwake.store(false, ordering: .sequentiallyConsistent) }
        }
    }

    private var isOver: Bool { monitor.withLock { $0.runningLoopCount == 0 } }

    /// Waits until a loop calls ``watch()``, or the loops end.
    private func sleep() {
        isAwake.store(false, ordering: .sequentiallyConsistent)
        // A loop that published its job before the store may have seen that this thread is awake.
        if loops.contains(where: { EventLoop.isOfJob($0.jobNumber.load(ordering: .sequentiallyConsistent)) })
        {
            return isAwake.store(true, ordering: .sequentiallyConsistent)
        }
        monitor.wait { state in
            state.runningLoopCount == 0 || isAwake.load(ordering: .sequentiallyConsistent) ? () : nil
        }
    }

    private func run(_ loop: EventLoop, _ index: Int) {
        SystemThread.rename("davit-loop-\(index)")
        SystemThread.setPriority(priority)
        loop.run()
    }
}

/// Owns an object until it is taken, so that a closure that took it does not keep it alive.
final class Held<Value: AnyObject & Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value) { self.value = Mutex(value) }

    func take() -> Value? { value.withLock { $0.take() } }
}

import DavitSystem
import Synchronization
import Testing

@testable import DavitTransport

@Suite("Event loops")
struct EventLoopTests {
    /// An event loop on a separate thread.
    private struct Running {
        let loop: EventLoop
        private let ended = Latch(count: 1)

        init() throws {
            let loop = try EventLoop()
            self.loop = loop
            try SystemThread.start(named: "test-loop") { [ended] in
                loop.run()
                ended.countDown()
            }
        }

        /// Ends the loop and waits for its thread.
        func stop() {
            let loop = loop
            Task(executorPreference: loop) { loop.stop() }
            ended.wait()
        }
    }

    /// Suspends a task until the gate is opened.
    private final class Gate: Sendable {
        private let continuation = Mutex<CheckedContinuation<Void, Never>?>(nil)
        private let isReached = Latch(count: 1)
        private let isPassed = Latch(count: 1)
        private let thread = Mutex<UInt>(0)

        func pass() async {
            await withCheckedContinuation { waiting in
                continuation.withLock { $0 = waiting }
                isReached.countDown()
            }
            thread.withLock { $0 = SystemThread.current }
            isPassed.countDown()
        }

        func waitUntilReached() { isReached.wait() }

        func open() { continuation.withLock { $0.take() }?.resume() }

        /// Waits until the task has passed, and returns its thread.
        func waitUntilPassed() -> UInt {
            isPassed.wait()
            return thread.withLock { $0 }
        }
    }

    @Test("A task that waits when the loop ends continues when it is resumed, but not on the resuming thread")
    func waitingTask() throws {
        let running = try Running()
        let gate = Gate()
        Task(executorPreference: running.loop) { await gate.pass() }
        gate.waitUntilReached()
        running.stop()
        // A thread that resumes a task may hold a lock that the task acquires.
        let lock = Mutex(())
        lock.withLock { _ in gate.open() }
        #expect(gate.waitUntilPassed() != SystemThread.current)
    }

    @Test("A resumed task releases the objects that it holds")
    func release() throws {
        final class Held: Sendable {
            let released: Latch
            init(_ released: Latch) { self.released = released }
            deinit { released.countDown() }
        }
        let running = try Running()
        let gate = Gate()
        let released = Latch(count: 1)
        do {
            let object = Held(released)
            Task(executorPreference: running.loop) {
                await gate.pass()
                withExtendedLifetime(object) {}
            }
        }
        gate.waitUntilReached()
        running.stop()
        gate.open()
        released.wait()
    }

    @Test("A task that is started after the end of its loop runs, including where it yields")
    func lateTask() throws {
        let running = try Running()
        running.stop()
        let loop = running.loop
        let gate = Gate()
        Task(executorPreference: loop) {
            for _ in 0..<3 { await loop.turn() }
            await gate.pass()
        }
        gate.waitUntilReached()
        gate.open()
        _ = gate.waitUntilPassed()
    }

    @Test("A late task can remove a connection whose deadline was scheduled before the end")
    func lateRemoval() throws {
        final class Member: LoopMember, @unchecked Sendable {}
        let running = try Running()
        let (loop, member, gate) = (running.loop, Member(), Gate())
        Task(executorPreference: loop) {
            loop.add(member)
            loop.schedule(member, after: 75_000_000_000)
            await gate.pass()
            loop.schedule(member, after: 1)
            loop.remove(member)
        }
        gate.waitUntilReached()
        running.stop()
        gate.open()
        _ = gate.waitUntilPassed()
        // This task ends after the first one, because one thread runs all late jobs in their order.
        let last = Gate()
        Task(executorPreference: loop) { await last.pass() }
        last.waitUntilReached()
        last.open()
        _ = last.waitUntilPassed()
    }

    @Test("A task that never ends does not delay the end of the loop")
    func endlessTask() throws {
        let running = try Running()
        let isOver = Mutex(false)
        let gate = Gate()
        let loop = running.loop
        Task(executorPreference: loop) {
            while !isOver.withLock({ $0 }) { await loop.turn() }
            await gate.pass()
        }
        running.stop()
        isOver.withLock { $0 = true }
        gate.waitUntilReached()
        gate.open()
        _ = gate.waitUntilPassed()
    }
}

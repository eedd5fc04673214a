import DavitSystem
import Synchronization
import Testing

@testable import DavitTransport

@Suite("Event loops")
struct EventLoopTests {
    /// A loop on a thread of its own.
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
        private let passed = Mutex(false)

        func pass() async {
            await withCheckedContinuation { waiting in
                continuation.withLock { $0 = waiting }
                isReached.countDown()
            }
            passed.withLock { $0 = true }
        }

        var isPassed: Bool { passed.withLock { $0 } }

        func waitUntilReached() { isReached.wait() }

        func open() {
            continuation.withLock { $0.take() }?.resume()
        }
    }

    @Test("A task that waits when the loop ends runs to its end when it is resumed, on the resuming thread")
    func waitingTask() throws {
        let running = try Running()
        let gate = Gate()
        Task(executorPreference: running.loop) { await gate.pass() }
        gate.waitUntilReached()
        running.stop()
        #expect(!gate.isPassed)
        gate.open()
        #expect(gate.isPassed)
    }

    @Test("A resumed task releases what it holds")
    func release() throws {
        final class Held: Sendable {}
        let running = try Running()
        let gate = Gate()
        weak var held: Held?
        do {
            let object = Held()
            held = object
            Task(executorPreference: running.loop) {
                await gate.pass()
                withExtendedLifetime(object) {}
            }
        }
        gate.waitUntilReached()
        running.stop()
        #expect(held != nil)
        gate.open()
        #expect(held == nil)
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
        #expect(gate.isPassed)
    }
}

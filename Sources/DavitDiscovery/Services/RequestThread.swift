internal import DavitSystem
internal import Synchronization

/// A thread that carries out the latest request of a server, while the server runs. All methods except ``step`` can be called on
/// any thread.
final class RequestThread<Request: Sendable>: Sendable {
    /// What the thread does next.
    enum Step: Sendable {
        /// Carry out a request, and observe what it concerns.
        /// - number: differs between requests.
        case carryOut(Request, number: Int)
        /// Undo the request.
        case withdraw
        /// Undo the request and return.
        case end
    }

    private struct State {
        /// Whether the server is starting or running.
        var isOpen = false
        var request: Request?
        var number = 0
        var ended: Latch?
    }

    /// Wakes the thread when ``step`` has changed.
    let queue: SystemEventQueue
    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: at most 15 ASCII characters.
    /// - Throws: the system error if no descriptor is left.
    init(named name: String) throws(SystemError) {
        self.name = name
        queue = try SystemEventQueue()
    }

    /// What the thread does now.
    var step: Step {
        state.withLock { state in
            if !state.isOpen { return .end }
            return state.request.map { .carryOut($0, number: state.number) } ?? .withdraw
        }
    }

    /// Permits requests; until then, and after ``stop()``, they are ignored.
    func prepare() { state.withLock { $0.isOpen = true } }

    /// Replaces the request. Returns immediately.
    /// - Parameter body: runs on the thread, if it has to be started, until ``step`` is `end`.
    /// - Throws: the system error if the thread cannot be started.
    func request(_ request: Request, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let ended: Latch? = state.withLock { state in
            guard state.isOpen else { return nil }
            state.number += 1
            state.request = request
            if state.ended != nil { return nil }
            let ended = Latch(count: 1)
            state.ended = ended
            return ended
        }
        guard let ended else { return queue.wake() }
        do throws(SystemError) {
            try SystemThread.start(named: name) {
                body()
                ended.countDown()
            }
        } catch {
            ended.countDown()
            throw error
        }
    }

    /// Withdraws the request. Returns immediately.
    func withdraw() {
        state.withLock { $0.request = nil }
        queue.wake()
    }

    /// Withdraws the request, and returns when the thread has ended.
    func stop() {
        let ended = state.withLock { state in
            state.isOpen = false
            state.request = nil
            return state.ended
        }
        queue.wake()
        ended?.wait()
        state.withLock { $0.ended = nil }
    }
}

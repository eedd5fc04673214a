internal import DavitSystem

/// The bounded queue between the event loops and the writer thread. Callers that find it full continue
/// without recording.
final class RecordingQueue: Sendable {
    enum Item: Sendable {
        case opened(Int, peer: String)
        case bytes(Int, ConnectionTranscript.Direction, [UInt8], milliseconds: Int64)
        case missed(Int, ConnectionTranscript.Direction, Int64)
        case closed(Int)
    }

    private struct State {
        var items: [Item] = []
        var bytes = 0
        var connections = 0
        var refusedConnections = 0
        var isEnded = false
    }

    private let limits: Recorder.Limits
    private let start = Clock.now()
    private let monitor = Monitor(State())

    init(_ limits: Recorder.Limits) { self.limits = limits }

    /// Returns the number of a new connection, counted from 1, or nil if the queue is full or has ended.
    func open(peer: String) -> Int? {
        let number = monitor.withLock { state -> Int? in
            guard !state.isEnded, isFree(state) else {
                state.refusedConnections += 1
                return nil
            }
            state.connections += 1
            state.items.append(.opened(state.connections, peer: peer))
            return state.connections
        }
        monitor.signal()
        return number
    }

    func hasRoom(for count: Int) -> Bool {
        monitor.withLock { isFree($0) && $0.bytes + count <= limits.queueBytes }
    }

    /// - Returns: false, with nothing added, if the queue is full.
    func add(_ number: Int, _ direction: ConnectionTranscript.Direction, _ bytes: UnsafeRawBufferPointer)
        -> Bool
    {
        guard hasRoom(for: bytes.count) else { return false }
        // Copy outside the lock. Concurrent callers may exceed the limit by a few pieces.
        let item = Item.bytes(
            number, direction, unsafe Array(bytes), milliseconds: (Clock.now() - start) / 1_000_000)
        append(item, bytes: bytes.count)
        return true
    }

    /// Adds a count of missed bytes, even if the queue is full: these items are few, and without them the
    /// later bytes of the connection would be misinterpreted.
    func miss(_ number: Int, _ direction: ConnectionTranscript.Direction, _ count: Int64) {
        append(.missed(number, direction, count), bytes: 0)
    }

    func close(_ number: Int) { append(.closed(number), bytes: 0) }

    func end() {
        monitor.withLock { $0.isEnded = true }
        monitor.signal()
    }

    /// Returns all queued items; blocks until there are any. Returns nil if the queue is empty after
    /// ``end()``.
    func take() -> [Item]? {
        monitor.wait { state -> [Item]?? in
            guard !state.items.isEmpty else { return state.isEnded ? .some(nil) : nil }
            let items = state.items
            state.items = []
            state.bytes = 0
            return items
        }
    }

    /// The number of connections that were not recorded at all.
    var refusedConnections: Int { monitor.withLock { $0.refusedConnections } }

    private func append(_ item: Item, bytes: Int) {
        let wasEmpty = monitor.withLock { state -> Bool in
            guard !state.isEnded else { return false }
            let wasEmpty = state.items.isEmpty
            state.items.append(item)
            state.bytes += bytes
            return wasEmpty
        }
        if wasEmpty { monitor.signal() }
    }

    private func isFree(_ state: State) -> Bool { state.items.count < limits.queueItems }
}

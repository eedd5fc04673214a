internal import Synchronization

/// The queue of unread events of one observer.
final class EventObserver: Sendable {
    private struct State {
        var waiting: [ServerEvent] = []
        var missed = 0
    }

    /// Signals that events are available; finishes when the server is deallocated.
    let arrivals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() { (arrivals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func add(_ event: ServerEvent) {
        state.withLock { state in
            if state.waiting.count == ServerEvents.limit {
                state.waiting.removeFirst()
                state.missed += 1
            }
            state.waiting.append(event)
        }
        signal.yield()
    }

    func take() -> ServerEvent? {
        state.withLock { state in
            if state.missed > 0 {
                defer { state.missed = 0 }
                return .missed(state.missed)
            }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    func finish() { signal.finish() }
}

/// Delivers events to all observers.
package final class EventHub: Sendable {
    private struct Entry {
        weak var observer: EventObserver?
    }

    private let entries = Mutex<[Entry]>([])

    package init() {}

    deinit {
        for entry in entries.withLock({ $0 }) { entry.observer?.finish() }
    }

    package func observe() -> ServerEvents {
        let observer = EventObserver()
        entries.withLock { entries in
            entries.removeAll { $0.observer == nil }
            entries.append(Entry(observer: observer))
        }
        return ServerEvents(observer)
    }

    package func notify(_ event: ServerEvent) {
        let observers = entries.withLock { $0.compactMap(\.observer) }
        for observer in observers { observer.add(event) }
    }
}

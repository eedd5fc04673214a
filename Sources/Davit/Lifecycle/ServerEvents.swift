/// The events of a server, in order, from the time at which ``WebServer/events`` was read.
///
/// Each value is an independent observer. It keeps the last ``limit`` events for a slow reader; if there were
/// more, ``ServerEvent/missed(_:)`` contains the number of dropped events. The sequence ends when the server
/// is deallocated.
public struct ServerEvents: AsyncSequence, Sendable {
    public typealias Element = ServerEvent
    public typealias Failure = Never

    /// The maximum number of unread events.
    public static let limit = 64

    private let observer: EventObserver

    init(_ observer: EventObserver) { self.observer = observer }

    /// Returns an iterator.
    /// - Note: Iterators of the same value share its events; read ``WebServer/events`` once for each reader.
    public func makeAsyncIterator() -> Iterator { Iterator(observer) }

    /// The iterator of ``ServerEvents``.
    public struct Iterator: AsyncIteratorProtocol {
        private let observer: EventObserver
        private var arrivals: AsyncStream<Void>.Iterator

        init(_ observer: EventObserver) {
            self.observer = observer
            arrivals = observer.arrivals.makeAsyncIterator()
        }

        /// Waits for the next event; returns nil when the server is deallocated or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ServerEvent? {
            while true {
                if let event = observer.take() { return event }
                guard await arrivals.next(isolation: actor) != nil else { return observer.take() }
            }
        }

        public mutating func next() async -> ServerEvent? { await next(isolation: nil) }
    }
}

/// What happens to a server, in order, from the moment in which ``WebServer/events`` was read.
///
/// Each value is one observer, whatever others read. It keeps the last ``limit`` events for a slow reader; where
/// there were more, ``ServerEvent/missed(_:)`` says how many. It ends when the server object does.
public struct ServerEvents: AsyncSequence, Sendable {
    public typealias Element = ServerEvent
    public typealias Failure = Never

    /// How many events wait for a slow reader.
    public static let limit = 64

    private let observer: EventObserver

    init(_ observer: EventObserver) { self.observer = observer }

    /// - Note: Two iterators of one value share its events; read ``WebServer/events`` once for each reader.
    public func makeAsyncIterator() -> Iterator { Iterator(observer) }

    public struct Iterator: AsyncIteratorProtocol {
        private let observer: EventObserver
        private var arrivals: AsyncStream<Void>.Iterator

        init(_ observer: EventObserver) {
            self.observer = observer
            arrivals = observer.arrivals.makeAsyncIterator()
        }

        /// The next event; nil when the server is gone, or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ServerEvent? {
            while true {
                if let event = observer.take() { return event }
                guard await arrivals.next(isolation: actor) != nil else { return observer.take() }
            }
        }

        public mutating func next() async -> ServerEvent? { await next(isolation: nil) }
    }
}

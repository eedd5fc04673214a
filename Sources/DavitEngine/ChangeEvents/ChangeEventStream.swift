internal import DavitHTTP

/// A response body that sends server-sent events to a reader.
final class ChangeEventStream: BodyStream {
    private let feed: ChangeEventFeed
    private let id: Int
    /// The bytes that did not fit into the last buffer; initially the `retry` field, which sets the reconnection time
    /// of the client in milliseconds.
    private var rest = Array("retry: 2000\n\n".utf8)

    /// - Parameter id: the id of a reader, which is removed when the stream is deinitialized.
    init(_ feed: ChangeEventFeed, _ id: Int) {
        self.feed = feed
        self.id = id
    }

    deinit { feed.leave(id) }

    var flushesImmediately: Bool { true }

    func finishEarly() { feed.end(id) }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        if rest.isEmpty {
            guard let events = await feed.next(id) else { return }
            rest = events
        }
        rest.removeFirst(buffer.append(rest))
    }
}

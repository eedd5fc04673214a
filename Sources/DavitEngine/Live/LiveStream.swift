internal import DavitHTTP

/// The events of one reader, for as long as the response is sent.
final class LiveStream: BodyStream {
    private let feed: LiveFeed
    private let id: Int
    /// What did not fit into the last buffer; at first, after how many milliseconds to connect again.
    private var rest = Array("retry: 2000\n\n".utf8)

    /// - Parameter id: of a reader, who leaves when this object goes.
    init(_ feed: LiveFeed, _ id: Int) {
        self.feed = feed
        self.id = id
    }

    deinit { feed.leave(id) }

    var isLive: Bool { true }

    func wrapUp() { feed.end(id) }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        if rest.isEmpty {
            guard let events = await feed.next(id) else { return }
            rest = events
        }
        rest.removeFirst(buffer.append(rest))
    }
}

internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

/// The progress of a response.
struct ResponseProgress {
    /// The status, set when the head is encoded. Once it is set, no other response can be sent.
    var status: HTTPStatus?
    /// The number of content bytes that were sent or buffered.
    var contentBytes: Int64 = 0
    /// The number of these bytes that have been charged to the rate of the client.
    var pacedBytes: Int64 = 0
    private var start: Int64 = 0

    init(start: Int64 = 0) { self.start = start }

    /// Counts the response in the statistics of a loop.
    func count(in counts: inout RequestCounts?, kind: Int, _ status: HTTPStatus?, received: Int64?) {
        counts?.count(
            kind: kind, status, nanoseconds: Clock.now() - start, sent: contentBytes, received: received)
    }

    /// Returns the record for the access log.
    /// - Parameter received: see ``AccessRecord/bytesReceived``.
    func record(
        of request: HTTPRequest?, status: HTTPStatus?, received: Int64, peer: String, isComplete: Bool
    ) -> AccessRecord {
        AccessRecord(
            request: request, status: status, bytesReceived: received, bytesSent: contentBytes,
            duration: .nanoseconds(Clock.now() - start), time: Timestamp(nanoseconds: Clock.coarseWallNow()),
            connectionPeer: peer, isComplete: isComplete)
    }
}

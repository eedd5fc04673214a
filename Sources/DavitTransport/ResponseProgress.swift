internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// How far a response has got.
struct ResponseProgress {
    /// Set when the head has been composed: from then on nothing else can be answered.
    var status: HTTPStatus?
    /// Bytes of content handed to the system or composed.
    var contentBytes: Int64 = 0
    private var start: Int64 = 0

    init(start: Int64 = 0) { self.start = start }

    /// - Parameter received: bytes of the request's content.
    func record(
        of request: HTTPRequest?, status: HTTPStatus?, received: Int64, peer: String, isComplete: Bool
    ) -> AccessRecord {
        AccessRecord(
            request: request, status: status, bytesReceived: received, bytesSent: contentBytes,
            duration: .nanoseconds(Clock.now() - start), time: Timestamp(nanoseconds: Clock.coarseWallNow()),
            connectionPeer: peer, isComplete: isComplete)
    }
}

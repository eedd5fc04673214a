internal import DavitHTTP
internal import DavitLogging
internal import DavitServer
internal import DavitSystem

/// The progress of a response.
struct ResponseProgress {
    /// The status, set when the head has been written; afterwards no other response can be sent.
    var status: HTTPStatus?
    /// Bytes of content that were sent or buffered.
    var contentBytes: Int64 = 0
    private var start: Int64 = 0

    init(start: Int64 = 0) { self.start = start }

    /// - Parameter received: the number of bytes of the request's content.
    func record(
        of request: HTTPRequest?, status: HTTPStatus?, received: Int64, peer: String, isComplete: Bool
    ) -> AccessRecord {
        AccessRecord(
            request: request, status: status, bytesReceived: received, bytesSent: contentBytes,
            duration: .nanoseconds(Clock.now() - start), time: Timestamp(nanoseconds: Clock.coarseWallNow()),
            connectionPeer: peer, isComplete: isComplete)
    }
}

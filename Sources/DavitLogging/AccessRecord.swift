public import DavitHTTP

/// A request and the outcome of its response, recorded when the response ended.
///
/// Holds the request itself, so creating a record copies nothing; retaining a record retains its request.
public struct AccessRecord: Sendable {
    /// The request; nil if its head could not be parsed.
    public let request: HTTPRequest?
    /// The status of the response; nil if the connection ended before a response was sent.
    public var status: HTTPStatus?
    /// The number of bytes of request content that the handler had read when the response ended. Content that
    /// had arrived completely also counts if the handler responded immediately.
    public var bytesReceived: Int64
    /// The number of bytes of response content that were sent or buffered for sending.
    public var bytesSent: Int64
    /// Time from the end of the request head to the end of the response.
    public var duration: Duration
    /// When the response ended, accurate to a few milliseconds.
    public var time: Timestamp
    /// False if the response was truncated.
    public var isComplete: Bool
    private let connectionPeer: String

    /// - Parameter connectionPeer: the address of the connection's peer, used if there is no request.
    public init(
        request: HTTPRequest?, status: HTTPStatus?, bytesReceived: Int64 = 0, bytesSent: Int64,
        duration: Duration,
        time: Timestamp, connectionPeer: String, isComplete: Bool
    ) {
        self.request = request
        self.status = status
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
        self.duration = duration
        self.time = time
        self.connectionPeer = connectionPeer
        self.isComplete = isComplete
    }

    /// The method of the request; nil if its head could not be parsed.
    public var method: HTTPMethod? { request?.method }

    /// The path and query as sent, or as rewritten; may contain any bytes. Empty if the request head could
    /// not be parsed.
    public var target: [UInt8] {
        guard let target = request?.target else { return [] }
        if target.form == .asterisk { return [UInt8(ascii: "*")] }
        guard let query = target.rawQuery else { return target.rawPath }
        return target.rawPath + [UInt8(ascii: "?")] + query
    }

    /// The authenticated account; nil without authentication.
    public var principal: String? { request?.principal }

    /// Numeric client address without a port. Behind a trusted proxy, the address that the proxy reports.
    public var peer: String { request?.peerAddress ?? connectionPeer }

    /// ``DavitHTTP/HTTPRequest/requestID`` if it was used while handling the request, else nil.
    public var requestID: String? { request.flatMap { $0.requestNumber == 0 ? nil : $0.requestID } }

    /// The record formatted as ``AccessFormat/davit``.
    public var line: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160)
        AccessFormat.davit.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

public import DavitHTTP

/// What is worth knowing about a request and its response, when the response ended.
///
/// Holds the request itself, so that making a record copies nothing; whoever keeps records keeps their requests.
public struct AccessRecord: Sendable {
    /// Nil where the head could not be read.
    public let request: HTTPRequest?
    /// Nil where the peer went away, or was cut off, before anything was answered.
    public var status: HTTPStatus?
    /// Bytes of content that the handler got; what it left unread does not count.
    public var bytesReceived: Int64
    /// Bytes of content that were handed to the system.
    public var bytesSent: Int64
    /// From the end of the head to the end of the response.
    public var duration: Duration
    /// When the response ended, to some milliseconds.
    public var time: Timestamp
    /// False if the response was cut short.
    public var isComplete: Bool
    private let connectionPeer: String

    /// - Parameter connectionPeer: who is at the other end of the connection, where there is no request to say it.
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

    /// Nil where the head could not be read.
    public var method: HTTPMethod? { request?.method }

    /// The path and the query as sent, or as rewritten; they can hold any bytes. Empty where the head could not be read.
    public var target: [UInt8] {
        guard let target = request?.target else { return [] }
        if target.form == .asterisk { return [UInt8(ascii: "*")] }
        guard let query = target.rawQuery else { return target.rawPath }
        return target.rawPath + [UInt8(ascii: "?")] + query
    }

    /// Who was answered; nil without authentication.
    public var principal: String? { request?.principal }

    /// Numeric address of the client without port: behind a trusted proxy the one the proxy names.
    public var peer: String { request?.peerAddress ?? connectionPeer }

    /// ``DavitHTTP/HTTPRequest/requestID``, if anybody has asked for it.
    public var requestID: String? { request.flatMap { $0.requestNumber == 0 ? nil : $0.requestID } }

    /// The line of ``AccessFormat/davit``.
    public var line: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160)
        AccessFormat.davit.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A request that cannot be served, below the level of methods: framing, limits, a peer that went away.
public struct HTTPError: Error, Hashable, Sendable {
    /// What is answered; ignored when ``isDisconnected``.
    public var status: HTTPStatus
    /// A constant for the log and the short body; never bytes from the request, which can be credentials.
    public var reason: String
    /// The peer is gone or too slow to be answered: nothing is sent, the connection is closed.
    public var isDisconnected: Bool

    /// An error that is answered with `status` and `reason`; the reason must hold nothing of the request.
    public init(_ status: HTTPStatus, _ reason: String) {
        self.status = status
        self.reason = reason
        isDisconnected = false
    }

    /// The peer closed, or broke off, while a body was expected.
    public static let disconnected: HTTPError = {
        var error = HTTPError(.badRequest, "the peer went away")
        error.isDisconnected = true
        return error
    }()
}

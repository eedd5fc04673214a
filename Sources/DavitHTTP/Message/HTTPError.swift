/// The error for a request that cannot be processed at the level of HTTP, for example because of malformed
/// framing, an exceeded limit or a disconnected peer.
public struct HTTPError: Error, Hashable, Sendable {
    /// The status of the response; ignored if ``isDisconnected`` is true.
    public var status: HTTPStatus
    /// A constant text for the log and the response body. Never include data from the request, which may
    /// contain credentials.
    public var reason: String
    /// Whether the peer has disconnected or is too slow to receive a response; the connection is then closed
    /// without one.
    public var isDisconnected: Bool

    /// Creates an error that is answered with `status` and `reason`.
    /// - Parameter reason: must not contain data from the request; nil for the reason phrase of the status.
    public init(_ status: HTTPStatus, _ reason: String? = nil) {
        self.status = status
        self.reason = reason ?? "\(status.reasonPhrase)."
        isDisconnected = false
    }

    /// The error for a peer that has disconnected, or a connection that must be closed without a further
    /// response.
    public static let disconnected: HTTPError = {
        var error = HTTPError(.badRequest, "The peer disconnected.")
        error.isDisconnected = true
        return error
    }()

    /// Like ``disconnected``, but the connection is reset (RST) instead of closed, to test clients.
    public static let reset: HTTPError = {
        var error = HTTPError(.badRequest, "The connection is reset.")
        error.isDisconnected = true
        return error
    }()
}

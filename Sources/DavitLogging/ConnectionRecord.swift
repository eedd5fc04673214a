public import DavitHTTP

/// A summary of a connection, recorded when it was closed.
public struct ConnectionRecord: Hashable, Sendable {
    /// The local and remote addresses.
    public var endpoints: ConnectionEndpoints
    /// Whether the connection used TLS.
    public var isSecure: Bool
    /// Bytes received, including message heads and framing but not TLS overhead.
    public var bytesReceived: Int64
    /// Bytes passed to the operating system or, with TLS, encrypted for sending; counted like
    /// `bytesReceived`.
    public var bytesSent: Int64
    /// Time since the connection was accepted.
    public var duration: Duration

    /// Creates a record from given values, for tests.
    public init(
        endpoints: ConnectionEndpoints, isSecure: Bool, bytesReceived: Int64, bytesSent: Int64,
        duration: Duration
    ) {
        self.endpoints = endpoints
        self.isSecure = isSecure
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
        self.duration = duration
    }
}

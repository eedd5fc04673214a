public import DavitHTTP

/// What is worth knowing about a connection, when it was closed.
public struct ConnectionRecord: Hashable, Sendable {
    public var ends: ConnectionEnds
    /// It came in over TLS.
    public var isSecure: Bool
    /// Bytes of messages, heads and framing included, without what encryption adds.
    public var bytesReceived: Int64
    /// Bytes that were handed to the system, counted as `bytesReceived` are.
    public var bytesSent: Int64
    /// From when it was accepted.
    public var duration: Duration

    public init(
        ends: ConnectionEnds, isSecure: Bool, bytesReceived: Int64, bytesSent: Int64, duration: Duration
    ) {
        self.ends = ends
        self.isSecure = isSecure
        self.bytesReceived = bytesReceived
        self.bytesSent = bytesSent
        self.duration = duration
    }
}

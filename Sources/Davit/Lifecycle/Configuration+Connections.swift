public import DavitHTTP
public import DavitServer

extension Configuration {
    /// What an application sees of connections, below requests. Everything is called on event loops and must not block.
    public struct ConnectionHooks: Sendable {
        /// Asked before anything of a connection is read; after false it is closed, and not a byte is sent. All are
        /// accepted unless set.
        ///
        /// ```swift
        /// configuration.connections.accepts = { $0.remote.isLoopback }
        /// ```
        public var accepts: (@Sendable (ConnectionEnds) -> Bool)?
        /// Called when a connection has been closed, with the bytes that went over it; not for those that were refused.
        public var closed: (@Sendable (ConnectionRecord) -> Void)?
        /// Asked when a connection has been accepted; the tap sees its bytes until it is closed. Nil leaves a connection
        /// alone. With a tap each byte is looked at once more; without one nothing changes.
        public var tap: (@Sendable (ConnectionEnds) -> ByteTap?)?

        public init() {}
    }
}

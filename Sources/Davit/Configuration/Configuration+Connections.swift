public import DavitHTTP
public import DavitLogging

extension Configuration {
    /// Hooks for connections, below HTTP. All closures are called on event loops and must not block.
    public struct ConnectionHooks: Sendable {
        /// Whether to accept a connection; called before anything is read. If it returns false, the
        /// connection is closed without a response. Nil accepts all connections.
        ///
        /// ```swift
        /// configuration.connections.accepts = { $0.remote.isLoopback }
        /// ```
        public var accepts: (@Sendable (ConnectionEndpoints) -> Bool)?
        /// Called when a connection has closed, with its endpoints, its duration and the number of bytes
        /// transferred; not called for rejected connections.
        public var closed: (@Sendable (ConnectionRecord) -> Void)?
        /// Returns a tap for an accepted connection, which receives its bytes until it closes, or nil for
        /// none. A tap adds a pass over each byte; without one there is no cost.
        public var tap: (@Sendable (ConnectionEndpoints) -> ByteTap?)?

        /// Accepts all connections, without taps.
        public init() {}
    }
}

public import DavitServer

extension Configuration {
    /// A port of the router that is mapped to the server, so that it can be reached from the Internet.
    ///
    /// Requires TLS and accounts: without them, strangers could read everything, or passwords. Only the first TCP port
    /// is mapped.
    public struct PortMapping: Sendable {
        /// The router, such as a `NATGateway` of `DavitNATMapping`.
        public var gateway: any PortGateway
        /// The wanted port of the public address; nil for that of the server. The router may choose another one.
        public var externalPort: UInt16?
        /// The wanted duration of the mapping in seconds, at least 120; it is renewed in time.
        public var seconds = 3_600

        /// Creates settings with the defaults of the other properties.
        public init(_ gateway: any PortGateway, externalPort: UInt16? = nil) {
            self.gateway = gateway
            self.externalPort = externalPort
        }
    }
}

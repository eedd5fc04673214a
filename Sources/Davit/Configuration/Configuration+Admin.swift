extension Configuration {
    /// A listener for health checks and metrics, for programs on the same machine: `/livez`, `/readyz` and `/metrics`.
    /// Needs no credentials. See `docs/operations.md`.
    public struct AdminListener: Sendable {
        /// Where the listener can be reached.
        public enum Address: Hashable, Sendable {
            /// A Unix socket.
            case unixSocket(UnixSocket)
            /// A loopback address, such as `127.0.0.1` or `localhost`, and a port; 0 selects a free one. Other hosts are
            /// an error when the server is created.
            case loopback(host: String, port: UInt16)
        }

        /// Where the listener can be reached.
        public var address: Address

        /// Creates the settings of a listener.
        public init(_ address: Address) { self.address = address }

        /// Parses the path of a Unix socket, which contains a slash, or a host and a port, such as `127.0.0.1:9100` or
        /// `[::1]:9100`. Returns nil if the text is neither, or if the host is not a loopback address.
        public init?(parsing text: String) {
            if text.contains("/") {
                self.init(.unixSocket(UnixSocket(path: text)))
                return
            }
            guard let colon = text.lastIndex(of: ":") else { return nil }
            let digits = text[text.index(after: colon)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let port = UInt16(digits)
            else { return nil }
            var host = String(text[..<colon])
            if host.hasPrefix("[") && host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                return nil
            }
            guard Configuration.isLoopback(host) else { return nil }
            self.init(.loopback(host: host, port: port))
        }
    }

    /// Whether the server keeps statistics of requests.
    var countsRequests: Bool { collectsMetrics || adminListener != nil || metrics != nil }
}

extension HostField {
    /// True if both name one server: the same host, and the same port. The default ports of both schemes are one here: a
    /// proxy that ends TLS changes scheme and port, and not what is meant.
    package func isSameServer(as other: HostField) -> Bool {
        host == other.host && portThatCounts == other.portThatCounts
    }

    private var portThatCounts: UInt16? { port == 80 || port == 443 ? nil : port }
}

extension HostField {
    /// Whether this field and `other` identify the same server: their hosts and ports are equal. The default
    /// ports of http and https, and a missing port, count as equal, because a proxy that terminates TLS
    /// changes the scheme and the port.
    package func isSameServer(as other: HostField) -> Bool {
        host == other.host && portThatCounts == other.portThatCounts
    }

    private var portThatCounts: UInt16? { port == 80 || port == 443 ? nil : port }
}

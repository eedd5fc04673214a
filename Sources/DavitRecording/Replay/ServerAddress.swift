/// The address of a server: the scheme, authority and path of a URL.
package struct ServerAddress: Hashable, Sendable {
    package let isSecure: Bool
    /// The host without the brackets of an IPv6 address.
    package let host: String
    package let port: UInt16
    /// The authority as in the URL, including brackets; the value of `Host`.
    package let authority: String
    /// The path with leading and trailing slash.
    package let path: String
    /// A PEM file of trusted certificate authorities; nil for those of the system.
    package var authorities: String?

    /// The origin, for example `http://127.0.0.1:8080`.
    package var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// Returns nil if the text is not an HTTP URL, or has a user, query or fragment.
    package init?(parsing text: String) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        guard !text.contains(where: { "@?# ".contains($0) }), text.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        var host = authority
        var port: UInt16 = isSecure ? 443 : 80
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.isSecure = isSecure
        self.host = String(host)
        self.port = port
        self.authority = String(authority)
        self.path = (path.isEmpty ? "/" : String(path)) + (path.isEmpty || path.hasSuffix("/") ? "" : "/")
    }
}

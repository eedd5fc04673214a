package import DavitHTTP

/// The URL that clients use for a server behind a proxy.
package struct PublicURL: Hashable, Sendable {
    package var isSecure: Bool
    /// The host in lowercase; an IPv6 address includes its brackets.
    package var host: String
    /// The port; nil for the default port of the scheme.
    package var port: UInt16?
    /// The path prefix of the server on the proxy.
    package var prefix: PathPrefix

    package init(isSecure: Bool, host: String, port: UInt16? = nil, prefix: PathPrefix = .empty) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.prefix = prefix
    }

    /// Parses `http[s]://host[:port][/path][/]`; returns nil for anything else.
    package init?(parsing text: String) {
        let schemes = [("https://", true), ("http://", false)]
        let lowercase = text.lowercased()
        guard let (scheme, isSecure) = schemes.first(where: { lowercase.hasPrefix($0.0) }) else { return nil }
        let rest = Array(text.utf8.dropFirst(scheme.utf8.count))
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let field = HostField(parsing: rest.span.extracting(0..<slash)) else { return nil }
        var prefix = PathPrefix.empty
        if slash < rest.endIndex {
            guard let path = PathPrefix(parsing: rest.span.extracting(slash..<rest.count)) else { return nil }
            prefix = path
        }
        self.init(
            isSecure: isSecure, host: String(decoding: field.host, as: UTF8.self), port: field.port,
            prefix: prefix)
    }

    /// The URL, without a trailing slash.
    package var text: String {
        (isSecure ? "https://" : "http://") + host + (port.map { ":\($0)" } ?? "") + prefix.text
    }
}

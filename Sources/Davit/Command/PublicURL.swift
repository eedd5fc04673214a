package import DavitHTTP

/// A URL under which clients reach the server when its own address is not what they see: behind a proxy.
package struct PublicURL: Hashable, Sendable {
    package var isSecure: Bool
    /// In lower case; an IPv6 address with its brackets.
    package var host: String
    /// Nil for the default of the scheme.
    package var port: UInt16?
    /// Below which the proxy has the server.
    package var prefix: PathPrefix

    package init(isSecure: Bool, host: String, port: UInt16? = nil, prefix: PathPrefix = .empty) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.prefix = prefix
    }

    /// Parses `http[s]://host[:port][/path][/]`; nil for anything else.
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

    /// The URL again, without a slash at its end.
    package var text: String {
        (isSecure ? "https://" : "http://") + host + (port.map { ":\($0)" } ?? "") + prefix.text
    }
}

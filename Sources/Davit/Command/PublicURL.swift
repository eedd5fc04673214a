internal import DavitHTTP

/// A URL under which clients reach the server when its own address is not what they see: behind a proxy.
package struct PublicURL: Hashable, Sendable {
    package var isSecure: Bool
    /// In lower case; an IPv6 address with its brackets.
    package var host: String
    /// Nil for the default of the scheme.
    package var port: UInt16?

    package init(isSecure: Bool, host: String, port: UInt16? = nil) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// Parses `http[s]://host[:port][/]`; nil for anything else. There is no path: davit is served at the root.
    package init?(parsing text: String) {
        let schemes = [("https://", true), ("http://", false)]
        let lowercase = text.lowercased()
        guard let (scheme, isSecure) = schemes.first(where: { lowercase.hasPrefix($0.0) }) else { return nil }
        var authority = Array(text.utf8.dropFirst(scheme.utf8.count))
        if authority.last == UInt8(ascii: "/") { authority.removeLast() }
        guard let field = HostField(parsing: authority.span) else { return nil }
        self.init(isSecure: isSecure, host: String(decoding: field.host, as: UTF8.self), port: field.port)
    }

    /// The URL again.
    package var text: String {
        (isSecure ? "https://" : "http://") + host + (port.map { ":\($0)" } ?? "")
    }
}

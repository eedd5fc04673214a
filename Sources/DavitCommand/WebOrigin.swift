internal import DavitHTTP

/// The origin of a web page (RFC 6454), as browsers send it.
package struct WebOrigin: Hashable, Sendable {
    /// `scheme://host[:port]`, without the default port of the scheme.
    package let text: String

    /// Parses `scheme://host[:port][/]`; returns nil for anything else, including `null` and patterns with
    /// `*`.
    ///
    /// Schemes other than http and https belong to apps, such as `app://obsidian.md` and
    /// `capacitor://localhost`; browsers do not convert their hosts to lowercase.
    package init?(parsing text: String) {
        guard let separator = text.firstRange(of: "://"), Self.isScheme(text[..<separator.lowerBound]) else {
            return nil
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        var authority = Array(text[separator.upperBound...].utf8)
        // The address bar of a browser adds a slash.
        if authority.last == UInt8(ascii: "/") { authority.removeLast() }
        guard !authority.contains(UInt8(ascii: "*")), let field = HostField(parsing: authority.span) else {
            return nil
        }
        let usualPort: UInt16? = ["https": 443, "http": 80][scheme]
        let host = usualPort == nil ? Array(authority.prefix(field.host.count)) : field.host
        self.text =
            "\(scheme)://" + String(decoding: host, as: UTF8.self)
            + (field.port == usualPort ? "" : field.port.map { ":\($0)" } ?? "")
    }

    /// RFC 3986 §3.1.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.first, first.isLetter else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

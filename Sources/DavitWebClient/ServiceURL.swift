internal import DavitHTTP

/// The URLs of other services.
package enum ServiceURL {
    private static let limitBytes = 2048

    /// Returns whether text is an absolute https URL without user information or a fragment.
    /// - Parameter allowsLoopback: whether it may also be an http URL of this machine.
    package static func isUsable(_ text: String, allowsLoopback: Bool) -> Bool {
        guard text.utf8.count <= limitBytes,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
        else { return false }
        let schemes = ["https://"] + (allowsLoopback ? ["http://"] : [])
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return false }
        let rest = Array(text.utf8.dropFirst(scheme.utf8.count))
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        // User information contains an @, which a host cannot.
        guard let field = HostField(parsing: rest.span.extracting(0..<end)), !field.host.isEmpty else {
            return false
        }
        return scheme == "https://" || isLoopback(String(decoding: field.host, as: UTF8.self))
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }
}

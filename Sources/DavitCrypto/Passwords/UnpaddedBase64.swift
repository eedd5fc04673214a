internal import DavitHTTP

/// Base64 (RFC 4648 §4) without padding, as used in password hashes.
enum UnpaddedBase64 {
    static func encode(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }

    /// Decodes text. Returns nil for invalid characters, padding, and nonzero unused bits.
    static func decode(_ text: Substring) -> [UInt8]? {
        var padded = Array(text.utf8)
        guard !padded.contains(UInt8(ascii: "=")) else { return nil }
        while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
        return Base64.decode(padded.span)
    }
}

internal import DavitHTTP

/// Base64 (RFC 4648 §4) without the `=` at its end, as hashes of passwords are written.
enum UnpaddedBase64 {
    static func encode(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }

    /// Nil for other characters, for padding, and for bits that no encoder leaves over.
    static func decode(_ text: Substring) -> [UInt8]? {
        var padded = Array(text.utf8)
        guard !padded.contains(UInt8(ascii: "=")) else { return nil }
        while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
        return Base64.decode(padded.span)
    }
}

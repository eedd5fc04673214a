/// Credentials in the Authorization field.
public enum Credentials {
    /// Parses the name and password of `Basic` credentials (RFC 7617).
    ///
    /// - Returns: nil for other schemes and malformed credentials, answered with 401: no colon, invalid
    ///   Base64, control characters, invalid UTF-8.
    public static func basic(
        from value: borrowing Span<UInt8>
    ) -> (user: [UInt8], password: [UInt8])? {
        guard value.startsIgnoringCase(with: "basic ") else { return nil }
        var start = 6
        while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
        guard let pair = Base64.decode(value.extracting(start..<value.count)) else { return nil }
        // §2: the user ID contains no colon; the password may.
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        guard !pair.contains(where: \.isControl), String(validating: pair, as: UTF8.self) != nil else {
            return nil
        }
        return (Array(pair[..<colon]), Array(pair[(colon + 1)...]))
    }
}

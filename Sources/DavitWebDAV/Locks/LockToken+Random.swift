internal import DavitHTTP

extension LockToken {
    /// Creates a unique token (RFC 4918 §6.5): `opaquelocktoken:` (appendix C), which even the oldest clients
    /// support, and a version 4 UUID (RFC 9562 §5.4).
    ///
    /// - Parameter random: 16 bytes from a cryptographic source, so that tokens cannot be guessed.
    public static func make(from random: [UInt8]) -> LockToken {
        precondition(random.count == 16, "a UUID has 16 bytes")
        var bytes = random
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = Array("opaquelocktoken:".utf8)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(HexText.digit(byte >> 4))
            text.append(HexText.digit(byte & 15))
        }
        return LockToken(uri: String(decoding: text, as: UTF8.self))
    }
}

/// The words and numbers that mutations insert.
struct MutationWords {
    /// The entries of the dictionary.
    private(set) var words: [[UInt8]] = []

    /// Bytes with a meaning in many grammars.
    static let bytes =
        Array("\r\n\0 \t:;,=*/\\?#%&@[](){}<>\"'\"019AFafgx+-.\u{7F}".utf8) + [0x80, 0xC3, 0xFF]

    /// Numbers next to the limits of integer types, and texts that are almost numbers.
    static let numbers = [
        "0", "1", "-1", "+1", "00", "255", "256", "65535", "65536", "2147483647", "2147483648", "4294967295",
        "4294967296", "9223372036854775806", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "99999999999999999999999", "7FFFFFFF", "FFFFFFFF",
        "7FFFFFFFFFFFFFFF", "8000000000000000", "FFFFFFFFFFFFFFFF", "10000000000000000",
    ].map { Array($0.utf8) }

    init() {}

    /// Parses a dictionary of libFuzzer: one `"word"` per line, with the escapes `\\`, `\"` and `\xNN`. Empty lines and
    /// lines that begin with `#` are ignored.
    init(dictionary: [UInt8]) throws(ReplayError) {
        for line in dictionary.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard line.count > 2, line.first == UInt8(ascii: "\""), line.last == UInt8(ascii: "\""),
                let word = Self.unescape(line.dropFirst().dropLast())
            else {
                throw ReplayError(
                    status: 65,
                    message: "invalid word in the dictionary: \(String(decoding: line, as: UTF8.self))")
            }
            words.append(word)
        }
    }

    private static func unescape(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = text
        var word: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                word.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): word.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "\""): word.append(UInt8(ascii: "\""))
            case UInt8(ascii: "x"):
                guard rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                word.append(value)
                rest = rest.dropFirst(2)
            default: return nil
            }
        }
        return word
    }
}

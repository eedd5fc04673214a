/// The text encodings supported for input; output is always UTF-8.
public enum Charset: Hashable, Sendable, CaseIterable {
    /// ASCII and supersets of ASCII.
    case utf8, usASCII, latin1, windows1252
    /// UTF-16 with a byte order mark; big-endian without one (RFC 2781 §4.3).
    case utf16
    /// UTF-16 with a fixed byte order.
    case utf16BigEndian, utf16LittleEndian

    /// The error for the label of an unsupported charset; answered with 415.
    public struct Unsupported: Error, Hashable, Sendable {}

    /// The error for bytes that are invalid in the charset; answered with 400.
    public struct DecodingError: Error, Hashable, Sendable {
        /// The offset in bytes at which decoding failed. For an unpaired high surrogate in UTF-16, this is
        /// the offset after the surrogate.
        public let offset: Int
    }

    /// Creates a charset from a registered name or common alias, ignoring case.
    public init(label: [UInt8]) throws(Unsupported) {
        switch String(decoding: label.map(\.lowercasedASCII), as: UTF8.self) {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii": self = .usASCII
        case "iso-8859-1", "iso_8859-1", "iso8859-1", "latin1", "l1": self = .latin1
        case "windows-1252", "cp1252", "x-cp1252": self = .windows1252
        case "utf-16": self = .utf16
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        default: throw Unsupported()
        }
    }

    /// Decodes text strictly, without repairing invalid bytes. In UTF-8, and in UTF-16 without a fixed byte
    /// order, a byte order mark is removed.
    public func decode(_ bytes: [UInt8]) throws(DecodingError) -> String {
        switch self {
        case .utf8: try Self.decodeUTF8(bytes)
        case .usASCII: try Self.decodeASCII(bytes)
        case .latin1: String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
        case .windows1252: String(decoding: bytes.map(Self.windows1252Scalar), as: UTF16.self)
        case .utf16: try Self.decodeMarkedUTF16(bytes)
        case .utf16BigEndian: try Self.decodeUTF16(bytes[...], isBigEndian: true)
        case .utf16LittleEndian: try Self.decodeUTF16(bytes[...], isBigEndian: false)
        }
    }

    private static func decodeUTF8(_ bytes: [UInt8]) throws(DecodingError) -> String {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        if let decoded = String(validating: text, as: UTF8.self) { return decoded }
        throw DecodingError(offset: firstMalformed(in: bytes))
    }

    private static func firstMalformed(in bytes: [UInt8]) -> Int {
        var parser = UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &input) { offset += scalar.count }
        return offset
    }

    private static func decodeASCII(_ bytes: [UInt8]) throws(DecodingError) -> String {
        if let offset = bytes.firstIndex(where: { $0 >= 128 }) { throw DecodingError(offset: offset) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decodeMarkedUTF16(_ bytes: [UInt8]) throws(DecodingError) -> String {
        if bytes.starts(with: [0xFF, 0xFE]) { return try decodeUTF16(bytes[2...], isBigEndian: false) }
        let hasMark = bytes.starts(with: [0xFE, 0xFF])
        return try decodeUTF16(hasMark ? bytes[2...] : bytes[...], isBigEndian: true)
    }

    private static func decodeUTF16(
        _ bytes: ArraySlice<UInt8>, isBigEndian: Bool
    ) throws(DecodingError) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        // A high surrogate is valid only if a low surrogate follows.
        var isHighPending = false
        for index in stride(from: bytes.startIndex, to: bytes.endIndex, by: 2) {
            guard index + 1 < bytes.endIndex else { throw DecodingError(offset: index) }
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            let unit = isBigEndian ? first << 8 | second : second << 8 | first
            if UTF16.isTrailSurrogate(unit) != isHighPending { throw DecodingError(offset: index) }
            isHighPending = UTF16.isLeadSurrogate(unit)
            units.append(unit)
        }
        if isHighPending { throw DecodingError(offset: bytes.endIndex) }
        return String(decoding: units, as: UTF16.self)
    }

    private static func windows1252Scalar(_ byte: UInt8) -> UInt16 {
        0x80...0x9F ~= byte ? windows1252Table[Int(byte - 0x80)] : UInt16(byte)
    }

    /// The characters of the bytes 0x80 to 0x9F. The five undefined bytes map to control characters, as in
    /// the Encoding Standard.
    private static let windows1252Table: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
        0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
    ]
}

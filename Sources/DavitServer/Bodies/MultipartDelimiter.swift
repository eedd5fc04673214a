internal import DavitHTTP

/// The delimiter between the parts of a multipart body (RFC 2046 §5.1.1): CRLF, two dashes, the boundary.
struct MultipartDelimiter: Sendable {
    private let text: [UInt8]
    /// How far the search window can advance for each value of its last byte (Horspool's algorithm).
    private let shifts: [UInt8]

    enum Match: Hashable {
        case none
        /// The bytes are a prefix of a delimiter.
        case incomplete
        /// A delimiter. `length` includes the two dashes of a closing one, but not padding and line
        /// terminator.
        case delimiter(length: Int, isClosing: Bool)
    }

    /// - Parameter boundary: 1 to 70 bytes without control characters and without a trailing space.
    init?(boundary: [UInt8]) {
        guard 1...70 ~= boundary.count, !boundary.contains(where: \.isControl), boundary.last != 32 else {
            return nil
        }
        text = [13, 10, 45, 45] + boundary
        var shifts = [UInt8](repeating: UInt8(text.count), count: 256)
        for (index, byte) in text.dropLast().enumerated() {
            shifts[Int(byte)] = UInt8(text.count - 1 - index)
        }
        self.shifts = shifts
    }

    /// Returns the position of the next possible delimiter: its complete text, or a CR that is too close to
    /// the end of `bytes` for the complete text. Returns the end of `bytes` if there is none.
    ///
    /// Skips by up to the length of the delimiter. A boundary contains no CR, so content crafted to resemble
    /// delimiters costs at most one comparison per byte.
    func firstCandidate(in bytes: borrowing Span<UInt8>, from start: Int) -> Int {
        let length = text.count
        let lastByte = text[length - 1]
        let shifts = shifts.span
        var index = start
        while index <= bytes.count - length {
            let byte = unsafe bytes[unchecked: index + length - 1]
            if byte == lastByte, unsafe bytes[unchecked: index] == 13, isText(bytes, at: index) {
                return index
            }
            index += Int(unsafe shifts[unchecked: Int(byte)])
        }
        while index < bytes.count, bytes[index] != 13 { index += 1 }
        return index
    }

    private func isText(_ bytes: borrowing Span<UInt8>, at start: Int) -> Bool {
        for index in 0..<text.count where bytes[start + index] != text[index] { return false }
        return true
    }

    /// Matches a delimiter at `start`.
    ///
    /// A boundary followed by other characters is content, because another boundary may have the same prefix.
    /// - Parameter withoutLineEnd: true at the start of the content, where the first delimiter needs no
    ///   preceding CRLF.
    func match(_ bytes: borrowing Span<UInt8>, at start: Int, withoutLineEnd: Bool = false) -> Match {
        let text = withoutLineEnd ? text[2...] : text[...]
        var index = start
        for byte in text {
            guard index < bytes.count else { return .incomplete }
            guard bytes[index] == byte else { return .none }
            index += 1
        }
        guard index < bytes.count else { return .incomplete }
        if bytes[index].isWhitespace || bytes[index] == 13 {
            return .delimiter(length: text.count, isClosing: false)
        }
        guard bytes[index] == UInt8(ascii: "-") else { return .none }
        guard index + 1 < bytes.count else { return .incomplete }
        guard bytes[index + 1] == UInt8(ascii: "-") else { return .none }
        return .delimiter(length: text.count + 2, isClosing: true)
    }
}

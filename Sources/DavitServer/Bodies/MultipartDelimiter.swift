internal import DavitHTTP

/// What separates the parts of a multipart (RFC 2046 §5.1.1): CRLF, two dashes, the boundary.
struct MultipartDelimiter: Sendable {
    private let text: [UInt8]
    /// How far the text can be moved when the byte at its end is this one (Horspool's search).
    private let shifts: [UInt8]

    enum Match: Hashable {
        case none
        /// It may become one.
        case incomplete
        /// Padding and a line end follow, or after two more dashes nothing; those count in `length`.
        case delimiter(length: Int, isClosing: Bool)
    }

    /// - Parameter boundary: 1 to 70 bytes, none of them a control character, no space at the end.
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

    /// Where the next delimiter can begin: its text stands there, or as much of it as there may be before the end of
    /// `bytes`. The end of `bytes` if there is none.
    ///
    /// Looks at one byte in as many as the delimiter has. A boundary has no CR, so that text made to look like
    /// delimiters costs no more than one comparison for each byte.
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

    /// What stands at `start`.
    ///
    /// Text that goes on behind the boundary with something else is content: another boundary may begin alike.
    /// - Parameter withoutLineEnd: at the start of the content, where no line end stands before the first one.
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

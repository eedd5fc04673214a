internal import DavitHTTP

/// The first line and the fields of a message, parsed without validation.
package struct MessageHead: Hashable, Sendable {
    /// The words of the first line.
    package let words: [String]
    /// The fields in the received order and spelling; folded values are joined into one line.
    package let fields: [WireField]

    /// - Parameter bytes: the head up to the empty line; line ends may lack their CR.
    /// - Returns: nil if the first line has fewer than two words, or a line has no field name.
    init?(_ bytes: [UInt8]) {
        var lines = bytes.split(separator: 10).map { $0.last == 13 ? $0.dropLast() : $0 }[...]
        guard let first = lines.popFirst() else { return nil }
        words = first.split(separator: 32, maxSplits: 2).map { WireText.string($0) }
        guard words.count >= 2 else { return nil }
        var fields: [WireField] = []
        for line in lines where !line.isEmpty {
            if line.first?.isWhitespace == true, let last = fields.indices.last {
                fields[last].value += " " + WireText.string(Self.trimmed(line))
                continue
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = Self.trimmed(line[..<colon])
            guard !name.isEmpty else { return nil }
            fields.append(
                WireField(
                    name: WireText.string(name), value: WireText.string(Self.trimmed(line[(colon + 1)...]))))
        }
        self.fields = fields
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while bytes.first?.isWhitespace == true { bytes = bytes.dropFirst() }
        while bytes.last?.isWhitespace == true { bytes = bytes.dropLast() }
        return bytes
    }

    /// The framing that the fields declare: nil if they declare none, `.some(nil)` if it cannot be determined
    /// (RFC 9112 §6.3).
    private var declared: ContentFraming?? {
        let codings = fields["Transfer-Encoding"]
        let length = fields["Content-Length"]
        if let codings {
            guard length == nil, codings.lowercased() == "chunked" else { return .some(nil) }
            return .chunked
        }
        guard let length else { return nil }
        guard !length.isEmpty, length.utf8.allSatisfy(\.isDigit), let count = Int64(length) else {
            return .some(nil)
        }
        return .length(count)
    }

    /// The framing of a request; nil if it cannot be determined.
    package var requestFraming: ContentFraming? {
        guard let declared else { return .length(0) }
        return declared
    }

    /// Returns the framing of the response to a request with this method; nil if it cannot be determined.
    package func answerFraming(to method: String) -> ContentFraming? {
        guard let status else { return nil }
        if status < 200 || status == 204 || status == 304 || method == "HEAD" { return .length(0) }
        guard let declared else { return .untilEnd }
        return declared
    }

    package var status: Int? {
        guard words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let code = Int(words[1]), code >= 100
        else { return nil }
        return code
    }
}

/// How the end of the content is determined.
package enum ContentFraming: Hashable, Sendable {
    case length(Int64)
    case chunked
    /// The content ends at the end of the connection.
    case untilEnd
}

/// Parses request heads (RFC 9112 §2 to §3, §5).
///
/// As strict as a server on the internet must be: whatever two implementations could read in two ways is
/// refused, never repaired. Lines end in CRLF only; there is no folding, no space around names, no second
/// space in the request line.
///
/// Each byte is looked at once, however the head arrives, and the outcome does not depend on how it arrives.
package struct HeadParser: Sendable {
    private let limits: WireLimits
    /// True once the request line has been read.
    private var isInFields = false
    /// Empty lines in front of the request line (§2.2).
    private var emptyLineCount = 0
    private var headStart = 0
    private var lineStart = 0
    /// Where the search for the end of the current line goes on.
    private var scanned = 0

    /// §2.2 asks for "at least one"; more than two is not an accident of a client.
    private static let emptyLineLimit = 2

    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// Forgets the head so far. Needed only after an error: a complete head does it by itself.
    package mutating func reset() { self = HeadParser(limits: limits) }

    /// Parses as much as there is; called again with the same bytes and more after them while it returns nil.
    ///
    /// - Parameter input: everything received since the end of the previous request.
    /// - Returns: how many bytes of `input` the head takes, empty lines before it included, or nil while it
    ///   is incomplete. Fields and body of `request` are valid only after a non-nil result.
    /// - Throws: 400, 414, 417, 431, 501 or 505. The connection cannot go on: where the next request would
    ///   begin is not known.
    package mutating func parse(
        _ input: UnsafeRawBufferPointer, into request: HTTPRequest
    ) throws(HTTPError) -> Int? {
        let bytes = unsafe input.bindMemory(to: UInt8.self).span
        if !isInFields { request.removeAll() }
        while let end = try nextLine(bytes) {
            let line = lineStart..<end
            lineStart = end + 2
            scanned = lineStart
            if !line.isEmpty {
                if isInFields {
                    try parseField(bytes.extracting(line), at: line.lowerBound - headStart, into: request)
                } else {
                    try RequestLine.parse(bytes.extracting(line), into: request)
                    isInFields = true
                }
            } else if isInFields {
                unsafe request.keepHead(UnsafeRawBufferPointer(rebasing: input[headStart..<lineStart]))
                try request.interpretFields()
                let consumed = lineStart
                reset()
                return consumed
            } else {
                emptyLineCount += 1
                guard emptyLineCount <= Self.emptyLineLimit else {
                    throw HTTPError(.badRequest, "empty lines instead of a request")
                }
                headStart = lineStart
            }
        }
        return nil
    }

    /// The end of the line that starts at `lineStart`, without its CRLF; nil if it is not there yet.
    private mutating func nextLine(_ bytes: borrowing Span<UInt8>) throws(HTTPError) -> Int? {
        let headLimit = headStart + limits.headBytes
        let lineLimit = isInFields ? headLimit : lineStart + limits.requestLineBytes + 2
        let limit = min(headLimit, lineLimit)
        switch LineScanner.scan(bytes, from: scanned, to: min(bytes.count, limit)) {
        case .line(let carriageReturn):
            return carriageReturn
        case .forbiddenByte:
            throw HTTPError(.badRequest, "a control character, or a line end that is not CRLF")
        case .incomplete(let resume):
            if bytes.count >= limit {
                throw isInFields
                    ? HTTPError(.fieldsTooLarge, "the head is too large")
                    : HTTPError(.uriTooLong, "the request line is too long")
            }
            scanned = resume
            return nil
        }
    }

    /// `field-line = field-name ":" OWS field-value OWS` (RFC 9112 §5).
    private func parseField(
        _ line: borrowing Span<UInt8>, at offset: Int, into request: HTTPRequest
    ) throws(HTTPError) {
        var colon = 0
        while colon < line.count, line[colon].isTokenCharacter { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            // Also a space before the colon (§5.1) and a folded line (§5.2): both hide fields.
            throw HTTPError(.badRequest, "a field line without a valid name")
        }
        guard request.lines.count < limits.fieldCount else {
            throw HTTPError(.fieldsTooLarge, "too many fields")
        }
        let rest = line.extracting((colon + 1)..<line.count)
        let value = rest.trimmedRange
        request.append(
            HTTPRequest.FieldLine(
                name: FieldName(parsing: line.extracting(0..<colon)),
                nameStart: UInt16(offset), nameLength: UInt16(colon),
                valueStart: UInt16(offset + colon + 1 + value.lowerBound), valueLength: UInt16(value.count)))
    }
}

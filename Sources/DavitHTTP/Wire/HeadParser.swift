/// Parses request heads (RFC 9112 §2 to §3, §5).
///
/// Strict for security: input that implementations could interpret differently is rejected, never repaired.
/// Lines end only in CRLF; line folding, white space around field names and extra spaces in the request line
/// are errors.
///
/// Each call resumes where the previous one stopped, and the result does not depend on how the head is split
/// into reads.
package struct HeadParser: Sendable {
    private let limits: WireLimits
    /// Whether the request line has been parsed.
    private var isInFields = false
    /// Number of empty lines before the request line (§2.2).
    private var emptyLineCount = 0
    private var headStart = 0
    private var lineStart = 0
    /// Where to resume the search for the end of the current line.
    private var scanned = 0

    /// §2.2 recommends ignoring at least one empty line; legitimate clients are unlikely to send more than
    /// two.
    private static let emptyLineLimit = 2

    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// Discards the partial head. Needed only after an error; parsing a complete head resets the parser.
    package mutating func reset() { self = HeadParser(limits: limits) }

    /// Parses the available input. While it returns nil, call it again with the same bytes and more appended.
    ///
    /// - Parameter input: all bytes received since the end of the previous request.
    /// - Returns: the length of the head in `input`, including preceding empty lines, or nil while it is
    ///   incomplete. Fields and body of `request` are valid only after a non-nil result.
    /// - Throws: 400, 413, 414, 417, 431, 501 or 505. The connection is then unusable, because the start of
    ///   the next request is unknown.
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
                    throw HTTPError(.badRequest, "Too many empty lines before the request.")
                }
                headStart = lineStart
            }
        }
        return nil
    }

    /// Returns the end of the line that starts at `lineStart`, without its CRLF; nil if incomplete.
    private mutating func nextLine(_ bytes: borrowing Span<UInt8>) throws(HTTPError) -> Int? {
        let headLimit = headStart + limits.headBytes
        let lineLimit = isInFields ? headLimit : lineStart + limits.requestLineBytes + 2
        let limit = min(headLimit, lineLimit)
        switch LineScanner.scan(bytes, from: scanned, to: min(bytes.count, limit)) {
        case .line(let carriageReturn):
            return carriageReturn
        case .forbiddenByte:
            throw HTTPError(.badRequest, "Control character or invalid line terminator in the request head.")
        case .incomplete(let resume):
            if bytes.count >= limit {
                throw isInFields
                    ? HTTPError(.fieldsTooLarge, "The request head is too large.")
                    : HTTPError(.uriTooLong, "The request line is too long.")
            }
            scanned = resume
            return nil
        }
    }

    /// Parses `field-line = field-name ":" OWS field-value OWS` (RFC 9112 §5).
    private func parseField(
        _ line: borrowing Span<UInt8>, at offset: Int, into request: HTTPRequest
    ) throws(HTTPError) {
        var colon = 0
        while colon < line.count, line[colon].isTokenCharacter { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            // Includes a space before the colon (§5.1) and line folding (§5.2), both of which can hide
            // fields.
            throw HTTPError(.badRequest, "Malformed field name.")
        }
        guard request.lines.count < limits.fieldCount else {
            throw HTTPError(.fieldsTooLarge, "Too many fields.")
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

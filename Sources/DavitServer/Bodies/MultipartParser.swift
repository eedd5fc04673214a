internal import DavitHTTP

/// Parses `multipart/form-data` incrementally (RFC 7578, RFC 2046 §5.1). Stores no content: the caller keeps
/// unconsumed bytes, appends new ones, and calls again.
///
/// ```
/// loop: event = next(in: received, at: &index) →
///   .part(head): a part begins          .data(range): bytes of it, in `received`          .partEnd
///   .needMore: drop the bytes before `index`, append more; at the end of the content call endOfContent()
///   .end: done; any further bytes are not part of the form
/// ```
/// Unconsumed bytes are shorter than a delimiter or a part header. A part of type `multipart/mixed` is
/// expanded into its parts, which get its name (RFC 7578 §4.3); only one level of nesting is supported.
package struct MultipartParser: ~Copyable {
    package enum Event: Hashable, Sendable {
        case needMore
        case part(PartHead)
        /// A non-empty range.
        case data(Range<Int>)
        case partEnd
        case end
    }

    private enum Phase {
        /// Before the first delimiter, which needs no preceding line terminator at the start of the content.
        case preamble(isAtStart: Bool)
        /// After the text of a non-closing delimiter: padding, then a line terminator.
        case padding
        case head(scanned: Int)
        /// At the empty line after a part header. Its CRLF may belong to a delimiter; the part is then empty.
        case bodyStart
        case body
        case end
    }

    private let limits: MultipartLimits
    private let outer: MultipartDelimiter
    /// The delimiter of a nested `multipart/mixed` and the name of its control.
    private var nested: (delimiter: MultipartDelimiter, name: String)?
    private var phase = Phase.preamble(isAtStart: true)
    private var partCount = 0
    /// Number of content bytes that the caller has already dropped.
    private var dropped: Int64 = 0

    /// - Parameter boundary: the boundary from Content-Type.
    /// - Returns: nil if the boundary is invalid (RFC 2046 §5.1.1).
    package init?(boundary: [UInt8], limits: MultipartLimits = MultipartLimits()) {
        guard let delimiter = MultipartDelimiter(boundary: boundary) else { return nil }
        outer = delimiter
        self.limits = limits
    }

    /// Returns the next event.
    /// - Parameters:
    ///   - bytes: the content received and not yet dropped.
    ///   - index: the position up to which `bytes` has been consumed; advanced by the call.
    package mutating func next(
        in bytes: borrowing Span<UInt8>, at index: inout Int
    ) throws(MultipartError) -> Event {
        while true {
            let event: Event?
            switch phase {
            case .preamble(let isAtStart): event = skipPreamble(bytes, &index, isAtStart: isAtStart)
            case .padding: event = try skipPadding(bytes, &index)
            case .head(let scanned): event = try takeHead(bytes, &index, scanned: scanned)
            case .bodyStart: event = enterBody(bytes, &index)
            case .body: event = takeBody(bytes, &index)
            case .end: event = .end
            }
            if let event { return event }
        }
    }

    /// Records that the caller has dropped `count` bytes, to keep error offsets correct.
    package mutating func didDrop(_ count: Int) { dropped += Int64(count) }

    /// Checks that the form is complete. Call this at the end of the content.
    /// - Parameter unused: the number of bytes that were received and not dropped.
    /// - Throws: ``MultipartError/truncated(offset:)`` unless the closing delimiter was found.
    package func endOfContent(unused: Int) throws(MultipartError) {
        if case .end = phase { return }
        throw .truncated(offset: dropped + Int64(unused))
    }

    private var delimiter: MultipartDelimiter { nested?.delimiter ?? outer }

    // MARK: Delimiters

    private mutating func skipPreamble(
        _ bytes: borrowing Span<UInt8>, _ index: inout Int, isAtStart: Bool
    ) -> Event? {
        if !isAtStart { index = delimiter.firstCandidate(in: bytes, from: index) }
        switch delimiter.match(bytes, at: index, withoutLineEnd: isAtStart) {
        case .incomplete: return .needMore
        case .delimiter(let length, let isClosing): pass(length, isClosing: isClosing, &index)
        case .none where isAtStart: phase = .preamble(isAtStart: false)
        case .none: index += 1
        }
        return nil
    }

    private mutating func pass(_ length: Int, isClosing: Bool, _ index: inout Int) {
        index += length
        if !isClosing {
            phase = .padding
        } else if nested != nil {
            // The rest of the enclosing part is skipped up to the next delimiter of the form.
            nested = nil
            phase = .preamble(isAtStart: false)
        } else {
            phase = .end
        }
    }

    private mutating func skipPadding(
        _ bytes: borrowing Span<UInt8>, _ index: inout Int
    ) throws(MultipartError) -> Event? {
        while index < bytes.count, bytes[index].isWhitespace { index += 1 }
        guard index + 1 < bytes.count else {
            if index < bytes.count, bytes[index] != 13 { throw malformed(at: index) }
            return .needMore
        }
        guard bytes[index] == 13, bytes[index + 1] == 10 else { throw malformed(at: index) }
        index += 2
        phase = .head(scanned: 0)
        return nil
    }

    // MARK: Parts

    private mutating func takeHead(
        _ bytes: borrowing Span<UInt8>, _ index: inout Int, scanned: Int
    ) throws(MultipartError) -> Event? {
        guard let length = Self.headLength(bytes, from: index, scanned: scanned) else {
            let received = bytes.count - index
            guard received <= limits.partHeadBytes + 4 else {
                throw .headTooLarge(limit: limits.partHeadBytes)
            }
            phase = .head(scanned: received)
            return .needMore
        }
        guard length <= limits.partHeadBytes else { throw .headTooLarge(limit: limits.partHeadBytes) }
        partCount += 1
        guard partCount <= limits.parts else { throw .tooManyParts(limit: limits.parts) }

        let start = dropped + Int64(index)
        let head = try PartHead(
            parsing: bytes.extracting(index..<index + length), offset: start, inside: nested?.name)
        index += length
        guard nested == nil, head.contentType?.essence == "multipart/mixed" else {
            phase = .bodyStart
            return .part(head)
        }
        guard let boundary = head.contentType?.parameters["boundary"],
            let delimiter = MultipartDelimiter(boundary: boundary)
        else { throw .malformed(offset: start) }
        nested = (delimiter, head.name)
        index += 2
        phase = .preamble(isAtStart: true)
        return nil
    }

    /// Returns the length of a part header up to its empty line, including the CRLF of its last line; nil if
    /// incomplete.
    private static func headLength(_ bytes: borrowing Span<UInt8>, from start: Int, scanned: Int) -> Int? {
        // Up to three bytes of two consecutive CRLFs may have been scanned before.
        var index = start + max(0, scanned - 3)
        var isAtLineStart = index == start
        while index + 1 < bytes.count {
            let isLineEnd = bytes[index] == 13 && bytes[index + 1] == 10
            if isLineEnd, isAtLineStart { return index - start }
            isAtLineStart = isLineEnd
            index += isLineEnd ? 2 : 1
        }
        return nil
    }

    private mutating func enterBody(_ bytes: borrowing Span<UInt8>, _ index: inout Int) -> Event? {
        switch delimiter.match(bytes, at: index) {
        case .incomplete: return .needMore
        case .none:
            index += 2
            phase = .body
            return nil
        case .delimiter(let length, let isClosing):
            pass(length, isClosing: isClosing, &index)
            return .partEnd
        }
    }

    private mutating func takeBody(_ bytes: borrowing Span<UInt8>, _ index: inout Int) -> Event? {
        let start = index
        index = delimiter.firstCandidate(in: bytes, from: start)
        if index > start { return .data(start..<index) }
        switch delimiter.match(bytes, at: start) {
        case .incomplete: return .needMore
        case .none:
            index += 1
            return .data(start..<index)
        case .delimiter(let length, let isClosing):
            pass(length, isClosing: isClosing, &index)
            return .partEnd
        }
    }

    private func malformed(at index: Int) -> MultipartError { .malformed(offset: dropped + Int64(index)) }
}

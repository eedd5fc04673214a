internal import DavitHTTP

/// Finds the parts of `multipart/form-data` (RFC 7578, RFC 2046 §5.1). Holds no content itself: the caller keeps what
/// has not been used, appends what comes, and asks again.
///
/// ```
/// loop: event = next(in: received, at: &index) →
///   .part(head): a part begins          .data(range): bytes of it, in `received`          .partEnd
///   .needMore: drop what is before `index`, append more; at the end of the content call endOfContent()
///   .end: done; what follows is no part of the form
/// ```
/// What is kept is shorter than a delimiter, or than the head of a part. A part of type `multipart/mixed` is opened, and
/// its parts come under its name (RFC 7578 §4.3), one level deep.
package struct MultipartParser: ~Copyable {
    package enum Event: Hashable, Sendable {
        case needMore
        case part(PartHead)
        /// Not empty.
        case data(Range<Int>)
        case partEnd
        case end
    }

    private enum Phase {
        /// Before the first delimiter; at its start there need be no line end before it.
        case preamble(isAtStart: Bool)
        /// Behind the text of a delimiter that does not close: padding, then a line end.
        case padding
        case head(scanned: Int)
        /// At the empty line behind a head. Its line end may be that of a delimiter: the part is then empty.
        case bodyStart
        case body
        case end
    }

    private let limits: MultipartLimits
    private let outer: MultipartDelimiter
    /// The parts of a nested `multipart/mixed`, and the control they belong to.
    private var nested: (delimiter: MultipartDelimiter, name: String)?
    private var phase = Phase.preamble(isAtStart: true)
    private var partCount = 0
    /// Bytes of content before what the caller holds.
    private var dropped: Int64 = 0

    /// - Parameter boundary: of the Content-Type; nil if it cannot be one (RFC 2046 §5.1.1).
    package init?(boundary: [UInt8], limits: MultipartLimits = MultipartLimits()) {
        guard let delimiter = MultipartDelimiter(boundary: boundary) else { return nil }
        outer = delimiter
        self.limits = limits
    }

    /// - Parameters:
    ///   - bytes: what has been received and not been dropped.
    ///   - index: how far it has been used; moved on.
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

    /// Tells that the caller has dropped so many bytes; for the offsets of errors.
    package mutating func didDrop(_ count: Int) { dropped += Int64(count) }

    /// - Throws: ``MultipartError/truncated(offset:)`` unless the last delimiter was there.
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
            // What follows in the part that held the parts is dropped, up to the next delimiter of the form.
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

    /// Bytes of the head up to its empty line, the line end of its last line included; nil if that is not there yet.
    private static func headLength(_ bytes: borrowing Span<UInt8>, from start: Int, scanned: Int) -> Int? {
        // Of two line ends in a row three bytes can have been there before.
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

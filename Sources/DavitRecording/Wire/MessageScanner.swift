internal import DavitHTTP

/// Finds messages and their content in the bytes of one direction of a connection, which arrive in pieces of
/// any size.
///
/// ```
/// loop: next(input) → .head: begin(framing) → .content(count): that many bytes → … → .end → the next .head
/// ```
package struct MessageScanner {
    package enum Step: Hashable, Sendable {
        /// A head. The caller must call ``begin(_:)`` next.
        case head(MessageHead)
        /// The next bytes of the input are content; the caller removes them before the next call.
        case content(Int)
        /// The message is complete.
        case end
        /// All input is used up.
        case needMore
    }

    /// The error for bytes that are not HTTP messages. The bytes after them cannot be scanned either.
    package struct Lost: Error, Hashable, Sendable {}

    private enum Phase {
        case head
        case length(Int64)
        case chunked(ChunkedDecoder)
        case untilEnd
    }

    /// The number of bytes from which an incomplete head is rejected.
    private static let headLimitBytes = 256 * 1024

    private var phase = Phase.head
    private var head: [UInt8] = []

    package init() {}

    /// Whether the scanner is between two messages.
    package var isIdle: Bool {
        if case .head = phase { return head.isEmpty }
        return false
    }

    /// Scans the input for the next step.
    ///
    /// - Returns: the number of bytes consumed at the start of `input`, and the step. The bytes of a
    ///   `content` step follow the consumed ones. The caller removes both from the input before the next
    ///   call.
    package mutating func next(
        _ input: UnsafeRawBufferPointer
    ) throws(Lost) -> (consumed: Int, step: Step) {
        switch phase {
        case .head: return try unsafe nextOfHead(input)
        case .length(0):
            phase = .head
            return (0, .end)
        case .length(let left):
            guard input.count > 0 else { return (0, .needMore) }
            let count = Int(min(left, Int64(input.count)))
            phase = .length(left - Int64(count))
            return (0, .content(count))
        case .untilEnd:
            return input.count > 0 ? (0, .content(input.count)) : (0, .needMore)
        case .chunked(var decoder):
            let consumed: Int
            let step: ChunkedDecoder.Step
            do throws(HTTPError) { (consumed, step) = try unsafe decoder.decode(input) } catch {
                throw Lost()
            }
            switch step {
            case .needMore:
                phase = .chunked(decoder)
                return (consumed, .needMore)
            case .end:
                phase = .head
                return (consumed, .end)
            case .data(let remaining):
                let count = Int(min(remaining, Int64(input.count - consumed)))
                if count > 0 { decoder.didTake(count) }
                phase = .chunked(decoder)
                return (consumed, count > 0 ? .content(count) : .needMore)
            }
        }
    }

    /// Sets the framing of the content after a head.
    package mutating func begin(_ framing: ContentFraming) {
        switch framing {
        case .length(let count): phase = .length(count)
        case .chunked: phase = .chunked(ChunkedDecoder())
        case .untilEnd: phase = .untilEnd
        }
    }

    /// Skips missing bytes.
    ///
    /// - Returns: true if all of the missing bytes are known to be content. If not, the bytes after them
    ///   cannot be scanned.
    package mutating func skip(_ count: Int64) -> Bool {
        switch phase {
        case .length(let left) where left >= count:
            phase = .length(left - count)
            return true
        case .untilEnd: return true
        default: return false
        }
    }

    /// Whether the end of the connection ends the message.
    package var endsWithConnection: Bool {
        if case .untilEnd = phase { return true }
        return false
    }

    private mutating func nextOfHead(_ input: UnsafeRawBufferPointer) throws(Lost) -> (Int, Step) {
        let bytes = unsafe input.bindMemory(to: UInt8.self).span
        for index in bytes.indices {
            let byte = bytes[index]
            // Empty lines before a message are ignored (RFC 9112 §2.2).
            if head.isEmpty, byte == 13 || byte == 10 { continue }
            head.append(byte)
            guard byte == 10 else { continue }
            let last = head.dropLast().last
            let isOver = last == 10 || last == 13 && head.dropLast(2).last == 10
            guard isOver else { continue }
            guard let parsed = MessageHead(head) else { throw Lost() }
            head = []
            // Assume that there is no content, until the caller specifies the framing.
            phase = .length(0)
            return (index + 1, .head(parsed))
        }
        guard head.count <= Self.headLimitBytes else { throw Lost() }
        return (input.count, .needMore)
    }
}

internal import DavitHTTP

/// Finds messages and their content in the bytes of one direction of a connection, which come in pieces of any size.
///
/// ```
/// loop: next(input) → .head: begin(framing) → .content(count): that many bytes → … → .end → the next .head
/// ```
package struct MessageScanner {
    package enum Step: Hashable, Sendable {
        /// The caller has to say with ``begin(_:)`` what follows.
        case head(MessageHead)
        /// The next bytes of the input are content; the caller has taken them when it calls again.
        case content(Int)
        /// The message is complete.
        case end
        /// All input is used up.
        case needMore
    }

    /// The bytes are no messages, from here on.
    package struct Lost: Error, Hashable, Sendable {}

    private enum Phase {
        case head
        case length(Int64)
        case chunked(ChunkedDecoder)
        case untilEnd
    }

    /// A head of more bytes is none.
    private static let headLimitBytes = 256 * 1024

    private var phase = Phase.head
    private var head: [UInt8] = []

    package init() {}

    /// True between two messages.
    package var isIdle: Bool {
        if case .head = phase { return head.isEmpty }
        return false
    }

    /// - Returns: how many bytes at the start of `input` are used up, the content of the last step not counted, and
    ///   what comes next. Content is to be taken off the input before the next call.
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

    /// Says how the content behind a head ends.
    package mutating func begin(_ framing: ContentFraming) {
        switch framing {
        case .length(let count): phase = .length(count)
        case .chunked: phase = .chunked(ChunkedDecoder())
        case .untilEnd: phase = .untilEnd
        }
    }

    /// Bytes that are missing.
    /// - Returns: false where it cannot be known what they were: nothing that follows can be read.
    package mutating func skip(_ count: Int64) -> Bool {
        switch phase {
        case .length(let left) where left >= count:
            phase = .length(left - count)
            return true
        case .untilEnd: return true
        default: return false
        }
    }

    /// True if the end of the connection is the end of the message.
    package var endsWithConnection: Bool {
        if case .untilEnd = phase { return true }
        return false
    }

    private mutating func nextOfHead(_ input: UnsafeRawBufferPointer) throws(Lost) -> (Int, Step) {
        let bytes = unsafe input.bindMemory(to: UInt8.self).span
        for index in bytes.indices {
            let byte = bytes[index]
            // Line ends before a message are not part of it (RFC 9112 §2.2).
            if head.isEmpty, byte == 13 || byte == 10 { continue }
            head.append(byte)
            guard byte == 10 else { continue }
            let last = head.dropLast().last
            let isOver = last == 10 || last == 13 && head.dropLast(2).last == 10
            guard isOver else { continue }
            guard let parsed = MessageHead(head) else { throw Lost() }
            head = []
            // Until the caller says what follows, nothing does.
            phase = .length(0)
            return (index + 1, .head(parsed))
        }
        guard head.count <= Self.headLimitBytes else { throw Lost() }
        return (input.count, .needMore)
    }
}

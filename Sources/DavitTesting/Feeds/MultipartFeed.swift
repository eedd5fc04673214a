package import DavitServer

/// Parses multipart content piece by piece, as the server does while it receives the content.
package struct MultipartFeed: Sendable {
    package struct Part: Equatable, CustomStringConvertible {
        package var head: PartHead
        package var bytes: [UInt8] = []

        package var description: String {
            let file = head.fileName.map { " (\($0))" } ?? ""
            return "\(head.name)\(file): \(String(decoding: bytes, as: UTF8.self))"
        }
    }

    package struct Outcome: Equatable {
        package var parts: [Part] = []
        package var error: MultipartError?
        /// The largest number of bytes that had to be buffered while the parser needed more input.
        package var mostKept = 0

        package static func == (a: Outcome, b: Outcome) -> Bool { a.parts == b.parts && a.error == b.error }
    }

    private let boundary: String
    private let limits: MultipartLimits

    package init(boundary: String = "b", limits: MultipartLimits = MultipartLimits()) {
        self.boundary = boundary
        self.limits = limits
    }

    package func parse(_ pieces: [[UInt8]]) -> Outcome {
        guard var parser = MultipartParser(boundary: Array(boundary.utf8), limits: limits) else {
            return Outcome(error: .malformed(offset: -1))
        }
        var outcome = Outcome()
        do throws(MultipartError) {
            var kept: [UInt8] = []
            for piece in pieces {
                kept += piece
                var index = 0
                if try Self.take(from: &parser, kept, &index, &outcome) { return outcome }
                kept.removeFirst(index)
                parser.didDrop(index)
                outcome.mostKept = max(outcome.mostKept, kept.count)
            }
            try parser.endOfContent(unused: kept.count)
        } catch {
            outcome.error = error
        }
        return outcome
    }

    /// - Returns: true at the end of the content; false if the parser needs more input.
    private static func take(
        from parser: inout MultipartParser, _ bytes: [UInt8], _ index: inout Int, _ outcome: inout Outcome
    ) throws(MultipartError) -> Bool {
        while true {
            switch try parser.next(in: bytes.span, at: &index) {
            case .needMore: return false
            case .end: return true
            case .part(let head): outcome.parts.append(Part(head: head))
            case .data(let range): outcome.parts[outcome.parts.count - 1].bytes += bytes[range]
            case .partEnd: break
            }
        }
    }

    package func parse(_ text: String) -> Outcome { parse([Array(text.utf8)]) }

    package func byteByByte(_ text: String) -> Outcome { parse(text.utf8.map { [$0] }) }

    package func split(_ text: String, at offset: Int) -> Outcome {
        parse([Array(text.utf8.prefix(offset)), Array(text.utf8.dropFirst(offset))])
    }
}

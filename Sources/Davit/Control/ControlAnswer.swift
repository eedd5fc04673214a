/// What a server says to a ``ControlRequest``.
///
/// On the wire it is `ok COUNT` and so many lines, or `refused REASON`. The count tells an answer with nothing
/// to say from one that a dying server cut off.
package enum ControlAnswer: Hashable, Sendable {
    case lines([String])
    case refused(reason: String)

    /// The most bytes that are sent or read.
    package static let limitBytes = 2 << 20
    /// The most lines; the last one says how many more there were.
    package static let limitLines = 100
    /// What is kept of one line: a path, each byte of it as three, and what is said of it.
    private static let limitLineBytes = 16 << 10

    /// Bytes that are no answer.
    package struct Malformed: Error {}

    /// As it is sent: lines within the limits, without control characters and without empty ones.
    package var bytes: [UInt8] {
        switch self {
        case .refused(let reason): return Self.line("refused \(reason)")
        case .lines(let all):
            var lines = all.flatMap { $0.split(separator: "\n") }.map(String.init)
            if lines.count > Self.limitLines {
                let omitted = lines.count - Self.limitLines + 1
                lines = lines.prefix(Self.limitLines - 1) + ["and \(omitted) more"]
            }
            return lines.reduce(into: Self.line("ok \(lines.count)")) { $0 += Self.line($1) }
        }
    }

    private static func line(_ text: String) -> [UInt8] {
        // The start of a character whose rest is cut off becomes a question mark when it is read.
        let kept = text.utf8.prefix(limitLineBytes).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
        return kept + [UInt8(ascii: "\n")]
    }

    /// Reads an answer from what has been received so far; nil while something is missing.
    package static func parse(_ received: [UInt8]) throws(Malformed) -> ControlAnswer? {
        guard received.count <= limitBytes else { throw Malformed() }
        let pieces = received.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // Behind the last line end is what has not been completed yet.
        let lines = pieces.dropLast().map { String(decoding: $0, as: UTF8.self) }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ", maxSplits: 1)
        switch words.first {
        case "refused" where words.count == 2: return .refused(reason: String(words[1]))
        case "ok" where words.count == 2:
            guard let count = Int(words[1]), 0...limitLines ~= count else { throw Malformed() }
            return lines.count > count ? .lines(Array(lines.dropFirst().prefix(count))) : nil
        default: throw Malformed()
        }
    }
}

/// The response of a server to a ``ControlRequest``.
///
/// On the wire, a response is either `ok COUNT`, followed by COUNT lines, or `refused REASON`. The count
/// distinguishes an empty response from one that was cut off.
package enum ControlResponse: Hashable, Sendable {
    case lines([String])
    case refused(reason: String)

    /// The maximum size of a response in bytes.
    package static let limitBytes = 2 << 20
    /// The maximum number of lines. If there are more, the last line contains the number of omitted lines.
    package static let limitLines = 100
    /// The maximum length of a line in bytes, without the newline: enough for a percent-encoded path and the
    /// other fields.
    private static let limitLineBytes = 16 << 10

    /// The received bytes are not a valid response.
    package struct Malformed: Error {}

    /// The encoded response, with lines within the limits and without control characters or empty lines.
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
        // A truncated character becomes a replacement character when it is decoded.
        let kept = text.utf8.prefix(limitLineBytes).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
        return kept + [UInt8(ascii: "\n")]
    }

    /// Parses a response from the bytes received so far; returns nil if it is incomplete.
    package static func parse(_ received: [UInt8]) throws(Malformed) -> ControlResponse? {
        guard received.count <= limitBytes else { throw Malformed() }
        let pieces = received.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The part after the last newline is incomplete.
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

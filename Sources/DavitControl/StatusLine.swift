internal import DavitHTTP

/// A line of the response to ``ControlRequest/status``.
package enum StatusLine: Hashable, Sendable {
    /// The result of a check; `problem` is nil if it passes.
    case check(name: String, problem: String?)
    /// A value for people.
    case value(name: String, text: String)

    /// The encoded line: a word for the kind, and two percent-encoded words.
    package var text: String {
        switch self {
        case .check(let name, let problem):
            "check \(ControlWord.encode(Array(name.utf8))) \(ControlWord.encode(problem.map { Array($0.utf8) }))"
        case .value(let name, let text):
            "value \(ControlWord.encode(Array(name.utf8))) \(ControlWord.encode(Array(text.utf8)))"
        }
    }

    /// Parses a line; returns nil if it is malformed.
    package init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let name = ControlWord.decode(words[1]) else { return nil }
        let text = ControlWord.decode(words[2]).map { String(decoding: $0, as: UTF8.self) }
        switch words[0] {
        case "check":
            if text == nil, words[2] != "-" { return nil }
            self = .check(name: String(decoding: name, as: UTF8.self), problem: text)
        case "value":
            guard let text else { return nil }
            self = .value(name: String(decoding: name, as: UTF8.self), text: text)
        default: return nil
        }
    }
}

/// Bytes as an attacker or a broken program sends them, and the only way in which they may be read.
///
/// A plain request for `/second` follows each of them. Whoever reads the message otherwise sees that request elsewhere, or
/// not at all.
struct CorpusMessage: CustomStringConvertible, Sendable {
    enum Outcome: Equatable, Sendable {
        /// These answers, then that to the request behind the message.
        case read([String])
        /// These answers, then the connection ends, and the request behind the message is not executed.
        case ends([String])
        /// These answers, then a refusal with this status, and the connection ends.
        case refused(Int, after: [String] = [])
    }

    /// RFC 9112, where nothing else is named.
    let clause: String
    let text: String
    let outcome: Outcome

    init(_ clause: String, _ text: String, _ outcome: Outcome) {
        self.clause = clause
        self.text = text
        self.outcome = outcome
    }

    static let second = "GET /second HTTP/1.1\r\nHost: h\r\n\r\n"

    var bytes: [UInt8] { Array((text + Self.second).utf8) }

    var description: String { "§\(clause) " + text.prefix(120).debugDescription }

    /// What the echoing handler has to say before the connection goes on or ends.
    var answers: [String] {
        switch outcome {
        case .read(let answers): answers + ["GET /second "]
        case .ends(let answers), .refused(_, let answers): answers
        }
    }

    /// Nobody is told that what follows comes too late: the peer has said so itself.
    var endsWithoutRefusal: Bool {
        if case .ends = outcome { return true }
        return false
    }

    var refusal: Int? {
        if case .refused(let status, _) = outcome { return status }
        return nil
    }
}

/// Bytes as sent by an attacker or a faulty program, with the only permitted interpretation.
///
/// Each message is followed by a plain request for `/second`. A server that interprets the message
/// differently sees that request elsewhere, or not at all.
struct CorpusMessage: CustomStringConvertible, Sendable {
    enum Outcome: Equatable, Sendable {
        /// These responses, then the response to the request after the message.
        case read([String])
        /// These responses, then the connection closes, and the request after the message is not executed.
        case ends([String])
        /// These responses, then a refusal with this status, and the connection closes.
        case refused(Int, after: [String] = [])
    }

    /// The section of RFC 9112, unless another RFC is given.
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

    /// The expected responses of the echo handler, including the one to `/second` if the connection continues.
    var answers: [String] {
        switch outcome {
        case .read(let answers): answers + ["GET /second "]
        case .ends(let answers), .refused(_, let answers): answers
        }
    }

    /// Whether the connection closes without a refusal, because the peer has requested the close itself.
    var endsWithoutRefusal: Bool {
        if case .ends = outcome { return true }
        return false
    }

    var refusal: Int? {
        if case .refused(let status, _) = outcome { return status }
        return nil
    }
}

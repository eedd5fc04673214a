/// What another `davit` command asks the server that owns a state folder: a line of its own on each connection.
package enum ControlRequest: String, CaseIterable, Sendable {
    /// Is the state sound? The answer has a line for each thing that is not.
    case check

    /// The longest line that is read, with its end.
    package static let limitBytes = 128

    /// Why a line is no request; the sentence is the answer.
    package enum Refusal: String, Error, Sendable {
        case tooLong = "the request is too long"
        case more = "there is one request on a connection"
        case unknown = "the server does not know this request; is it an older version?"
    }

    /// The line, with its end.
    package var bytes: [UInt8] { Array("\(rawValue)\n".utf8) }

    /// Reads a line from what has been received so far; nil while its end is missing.
    package static func parse(_ received: [UInt8]) throws(Refusal) -> ControlRequest? {
        let end = received.prefix(limitBytes).firstIndex(of: UInt8(ascii: "\n"))
        guard let end else {
            if received.count >= limitBytes { throw .tooLong }
            return nil
        }
        guard end == received.count - 1 else { throw .more }
        guard let request = ControlRequest(rawValue: String(decoding: received[..<end], as: UTF8.self)) else {
            throw .unknown
        }
        return request
    }
}

internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// What another `davit` command asks the server that owns a state folder: a line of its own on each connection.
///
/// On the wire it is words with a space between; a word that can hold anything is percent-encoded.
package enum ControlRequest: Hashable, Sendable {
    /// Is the state sound? The answer has a line for each thing that is not.
    case check
    /// Which locks are there? The answer has a line for each, but for so many that are known already; none at the end.
    case locks(skipped: Int)
    /// End these locks. The answer has a line for each that was ended.
    case breakLocks(LockSelection)
    /// What is in the trash, behind the entry of this number? The answer has a line for each, ``TrashLine``, the oldest
    /// first; none is the end.
    case trash(after: Int64)
    /// Restore what has this id. The answer is a ``TrashLine/Restored``.
    case restore(id: String)
    /// Empty the trash of what went so many days ago. The answer is how many entries that were.
    case emptyTrash(olderThanDays: Int)

    /// The longest line that is read, with its end: a path of 4096 bytes, encoded.
    package static let limitBytes = 16 << 10

    /// Why a line is no request; the sentence is the answer.
    package enum Refusal: String, Error, Sendable {
        case tooLong = "the request is too long"
        case more = "there is one request on a connection"
        case unknown = "the server does not know this request; is it an older version?"
    }

    /// The line, without its end.
    package var text: String {
        switch self {
        case .check: "check"
        case .locks(let skipped): "locks \(skipped)"
        case .breakLocks(.token(let token)): "break-token \(ControlWord.encode(Array(token.utf8)))"
        case .breakLocks(.path(let path)): "break-path \(ControlWord.encode(path))"
        case .trash(let number): "trash \(number)"
        case .restore(let id): "restore \(id)"
        case .emptyTrash(let days): "empty-trash \(days)"
        }
    }

    /// The line, with its end.
    package var bytes: [UInt8] { Array("\(text)\n".utf8) }

    /// Reads a line from what has been received so far; nil while its end is missing.
    package static func parse(_ received: [UInt8]) throws(Refusal) -> ControlRequest? {
        let end = received.prefix(limitBytes).firstIndex(of: UInt8(ascii: "\n"))
        guard let end else {
            if received.count >= limitBytes { throw .tooLong }
            return nil
        }
        guard end == received.count - 1 else { throw .more }
        guard let request = ControlRequest(line: String(decoding: received[..<end], as: UTF8.self)) else {
            throw .unknown
        }
        return request
    }

    private init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch (words[0], words.count) {
        case ("check", 1): self = .check
        case ("locks", 2):
            guard let skipped = Int(words[1]), skipped >= 0 else { return nil }
            self = .locks(skipped: skipped)
        case ("break-token", 2):
            guard let token = ControlWord.decode(words[1]) else { return nil }
            self = .breakLocks(.token(String(decoding: token, as: UTF8.self)))
        case ("break-path", 2):
            guard let path = ControlWord.decode(words[1]) else { return nil }
            self = .breakLocks(.path(path))
        case ("trash", 2):
            guard let number = Int64(words[1]), number >= 0 else { return nil }
            self = .trash(after: number)
        case ("restore", 2):
            guard TrashEntry.isID(words[1].utf8) else { return nil }
            self = .restore(id: String(words[1]))
        case ("empty-trash", 2):
            guard let days = Int(words[1]), days >= 0 else { return nil }
            self = .emptyTrash(olderThanDays: days)
        default: return nil
        }
        // One spelling for each.
        guard text == line else { return nil }
    }
}

/// Which locks a command is about.
package enum LockSelection: Hashable, Sendable {
    /// The one with this token.
    case token(String)
    /// Those on this path of the share, with slashes between its segments.
    case path([UInt8])
}

/// A word that can stand for anything, also for nothing at all.
enum ControlWord {
    static func encode(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "-" }
        var word = [UInt8(ascii: "=")]
        PercentCoding.append(bytes, to: &word)
        return String(decoding: word, as: UTF8.self)
    }

    /// Nil for `-`, and for what is no such word.
    static func decode(_ word: Substring) -> [UInt8]? {
        guard word.first == "=" else { return nil }
        return PercentCoding.decode(Array(word.utf8.dropFirst()))
    }
}

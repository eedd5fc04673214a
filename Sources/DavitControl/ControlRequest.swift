internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// A request from another `davit` command to the server that owns a state folder. Each connection carries one
/// request, on one line.
///
/// On the wire, a request consists of words separated by spaces; words with arbitrary content are
/// percent-encoded.
package enum ControlRequest: Hashable, Sendable {
    /// Reports the health of the server. The response has one ``StatusLine`` for each check and value.
    case status
    /// Verifies the state. The response has a line for each error.
    case check
    /// Lists one page of locks, without the first `skipped` locks. The response has one line per lock; it is
    /// empty if there are no more locks.
    case locks(skipped: Int)
    /// Removes locks. The response has a line for each removed lock.
    case breakLocks(LockSelection)
    /// Lists one page of the open uploads, without the first `skipped`. The response has one ``ListedUpload`` per line; it is
    /// empty if there are no more uploads.
    case uploads(skipped: Int)
    /// Cancels the upload with this ID. The response is the ``ListedUpload`` that was cancelled; it is empty if there is none.
    case cancelUpload(id: String)
    /// Lists one page of the trash, beginning after the entry with this number. The response has one
    /// ``TrashLine`` per entry, oldest first; it is empty if there are no more entries.
    case trash(after: Int64)
    /// Restores the entry with this ID. The response is a ``TrashLine/Restored``.
    case restore(id: String)
    /// Deletes entries that are at least this many days old. The response is the number of deleted entries.
    case emptyTrash(olderThanDays: Int)
    /// Reloads the settings of the server. The response is a ``ReloadReport``.
    case reload
    /// Lists one page of bans, without the first `skipped` bans. The response has one ``ListedBan`` per line; it is empty if
    /// there are no more bans.
    case bans(skipped: Int)
    /// Bans an address for a time. The response is the ``ListedBan``.
    case ban(address: String, seconds: Int64)
    /// Lifts a ban. The response is the ``ListedBan`` that was lifted.
    case unban(address: String)
    /// Lists or changes accounts, groups and rules.
    case accounts(AccountRequest)

    /// The maximum length of a line in bytes, including the newline: enough for a percent-encoded path of
    /// 4096 bytes.
    package static let limitBytes = 16 << 10

    /// The maximum duration of a ban in seconds: ten years.
    package static let limitBanSeconds: Int64 = 315_360_000

    /// Whether the reason of a refusal is meant for the user of the command, rather than a problem of the server.
    package var hasRefusalsForUsers: Bool {
        switch self {
        case .accounts, .bans, .ban, .unban: true
        default: false
        }
    }

    /// The reason why a request was rejected; the raw value is sent.
    package enum Refusal: String, Error, Sendable {
        case tooLong = "the request is too long"
        case more = "only one request per connection is allowed"
        case unknown = "unknown request; the server may be an older version of davit"
    }

    /// The encoded request, without the newline.
    package var text: String {
        switch self {
        case .status: "status"
        case .check: "check"
        case .reload: "reload"
        case .locks(let skipped): "locks \(skipped)"
        case .breakLocks(.token(let token)): "break-token \(ControlWord.encode(Array(token.utf8)))"
        case .breakLocks(.path(let path)): "break-path \(ControlWord.encode(path))"
        case .uploads(let skipped): "uploads \(skipped)"
        case .cancelUpload(let id): "cancel-upload \(ControlWord.encode(Array(id.utf8)))"
        case .trash(let number): "trash \(number)"
        case .restore(let id): "restore \(id)"
        case .emptyTrash(let days): "empty-trash \(days)"
        case .bans(let skipped): "bans \(skipped)"
        case .ban(let address, let seconds): "ban \(seconds) \(ControlWord.encode(Array(address.utf8)))"
        case .unban(let address): "unban \(ControlWord.encode(Array(address.utf8)))"
        case .accounts(let request): request.text
        }
    }

    /// The encoded request, with the newline.
    package var bytes: [UInt8] { Array("\(text)\n".utf8) }

    /// Parses a request from the bytes received so far; returns nil if the newline is missing.
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
        case ("status", 1): self = .status
        case ("check", 1): self = .check
        case ("reload", 1): self = .reload
        case ("locks", 2):
            guard let skipped = Int(words[1]), skipped >= 0 else { return nil }
            self = .locks(skipped: skipped)
        case ("break-token", 2):
            guard let token = ControlWord.decode(words[1]) else { return nil }
            self = .breakLocks(.token(String(decoding: token, as: UTF8.self)))
        case ("break-path", 2):
            guard let path = ControlWord.decode(words[1]) else { return nil }
            self = .breakLocks(.path(path))
        case ("uploads", 2):
            guard let skipped = Int(words[1]), skipped >= 0 else { return nil }
            self = .uploads(skipped: skipped)
        case ("cancel-upload", 2):
            guard let id = ControlWord.decode(words[1]) else { return nil }
            self = .cancelUpload(id: String(decoding: id, as: UTF8.self))
        case ("trash", 2):
            guard let number = Int64(words[1]), number >= 0 else { return nil }
            self = .trash(after: number)
        case ("restore", 2):
            guard TrashEntry.isID(words[1].utf8) else { return nil }
            self = .restore(id: String(words[1]))
        case ("empty-trash", 2):
            guard let days = Int(words[1]), days >= 0 else { return nil }
            self = .emptyTrash(olderThanDays: days)
        case ("bans", 2):
            guard let skipped = Int(words[1]), skipped >= 0 else { return nil }
            self = .bans(skipped: skipped)
        case ("ban", 3):
            guard let seconds = Int64(words[1]), (1...Self.limitBanSeconds).contains(seconds),
                let address = ControlWord.decode(words[2])
            else { return nil }
            self = .ban(address: String(decoding: address, as: UTF8.self), seconds: seconds)
        case ("unban", 2):
            guard let address = ControlWord.decode(words[1]) else { return nil }
            self = .unban(address: String(decoding: address, as: UTF8.self))
        default:
            guard let request = AccountRequest(words: words[...]) else { return nil }
            self = .accounts(request)
        }
        // Accept only the canonical spelling.
        guard text == line else { return nil }
    }
}

/// The locks that a command applies to.
package enum LockSelection: Hashable, Sendable {
    /// The lock with this token.
    case token(String)
    /// All locks whose root is this path in the share; segments are separated by slashes.
    case path([UInt8])
}

/// The encoding of an optional value as a word without spaces.
enum ControlWord {
    static func encode(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "-" }
        var word = [UInt8(ascii: "=")]
        PercentCoding.append(bytes, to: &word)
        return String(decoding: word, as: UTF8.self)
    }

    /// Returns nil for `-` and for malformed words.
    static func decode(_ word: Substring) -> [UInt8]? {
        guard word.first == "=" else { return nil }
        return PercentCoding.decode(Array(word.utf8.dropFirst()))
    }
}

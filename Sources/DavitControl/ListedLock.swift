package import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// A lock as `davit locks` lists it, encoded as a line of a ``ControlResponse``.
package struct ListedLock: Hashable, Sendable {
    /// The path of the lock root; segments are separated by slashes.
    package var path: [UInt8]
    package var token: String
    package var isExclusive: Bool
    package var isDeep: Bool
    /// The text of the `owner` element that the client sent, if any.
    package var owner: String?
    package var principal: String?
    /// When the lock was created; nil for locks created by earlier versions of davit.
    package var created: Timestamp?
    package var expiry: Timestamp

    /// The maximum length of the owner in characters; longer text is truncated.
    private static let ownerLimit = 200

    package init(_ lock: Lock) {
        path = lock.root.bytes
        token = lock.token.uri
        isExclusive = lock.scope == .exclusive
        isDeep = lock.depth == .infinity
        owner = (lock.owner?.trimmedText).map { String($0.prefix(Self.ownerLimit)) }
        principal = lock.principal
        created = lock.created
        expiry = lock.expiry
    }

    /// The encoded line: words separated by spaces.
    package var line: String {
        [
            ControlWord.encode(path), ControlWord.encode(Array(token.utf8)),
            isExclusive ? "exclusive" : "shared", isDeep ? "infinity" : "0",
            ControlWord.encode(owner.map { Array($0.utf8) }),
            ControlWord.encode(principal.map { Array($0.utf8) }),
            created.map { "\($0.nanoseconds)" } ?? "-", "\(expiry.nanoseconds)",
        ].joined(separator: " ")
    }

    /// Parses a line; returns nil if it is malformed.
    package init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 8, let path = ControlWord.decode(words[0]),
            let token = ControlWord.decode(words[1]), let expiry = Int64(words[7])
        else { return nil }
        self.path = path
        self.token = String(decoding: token, as: UTF8.self)
        isExclusive = words[2] == "exclusive"
        isDeep = words[3] == "infinity"
        owner = ControlWord.decode(words[4]).map { String(decoding: $0, as: UTF8.self) }
        principal = ControlWord.decode(words[5]).map { String(decoding: $0, as: UTF8.self) }
        created = Int64(words[6]).map { Timestamp(nanoseconds: $0) }
        self.expiry = Timestamp(nanoseconds: expiry)
        guard self.line == line else { return nil }
    }
}

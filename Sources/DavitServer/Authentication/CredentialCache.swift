#if TLS
internal import DavitCrypto
#endif

/// Makes what credentials are remembered by: 32 bytes that nobody can turn back into them, or make, without the key.
struct CredentialKeys: Sendable {
    #if TLS
    typealias Key = KeyedDigest.Code

    /// Nil if OpenSSL refuses.
    private let digest = try? KeyedDigest(key: RandomBytes.make(count: 16))

    /// - Parameter value: that of the Authorization field.
    /// - Returns: nil if OpenSSL refuses; the credentials then are looked at each time.
    func key(for value: borrowing Span<UInt8>) -> Key? {
        do throws(CryptoError) { return try digest?.code(for: value) } catch { return nil }
    }

    /// As ``key(for:)`` for a name and a password, however the field spelled them.
    func key(user: [UInt8], password: [UInt8]) -> Key? {
        // No field begins with a zero byte.
        let pair = [0] + user + [UInt8(ascii: ":")] + password
        return key(for: pair.span)
    }
    #else
    struct Key: Hashable, Sendable {
        private init() {}
    }

    /// Nil: without hashed passwords nothing has to be remembered.
    func key(for value: borrowing Span<UInt8>) -> Key? { nil }

    func key(user: [UInt8], password: [UInt8]) -> Key? { nil }
    #endif
}

/// Credentials that were found right or wrong a short time ago.
///
/// Those that were right are let in without the work of a hash. Those that were wrong are refused without it, and a
/// program that repeats an old password does not count as one that guesses.
struct CredentialCache: Sendable {
    enum Found {
        /// - Parameters:
        ///   - number: of the account.
        ///   - peer: the address from which they were found right.
        case right(name: String, number: UInt64, peer: String)
        case wrong
    }

    private struct Entry: Sendable {
        /// Nil if they were wrong.
        var name: String?
        var number: UInt64
        var peer: String
        var expiry: Int64
    }

    /// For how long; nanoseconds.
    static let rightLifetime: Int64 = 300_000_000_000
    /// Longer than failures are remembered, so that a program that repeats itself never collects them.
    static let wrongLifetime: Int64 = 900_000_000_000
    /// Most entries of each table. Each password has two: the field as it was sent, and name and password.
    static let limit = 2048

    /// Two tables, so that no wrong ones push right ones out.
    private var right = AgingTable<CredentialKeys.Key, Entry>(limit: limit)
    private var wrong = AgingTable<CredentialKeys.Key, Entry>(limit: limit)

    func look(for key: CredentialKeys.Key, now: Int64) -> Found? {
        if let entry = right[key], entry.expiry > now, let name = entry.name {
            return .right(name: name, number: entry.number, peer: entry.peer)
        }
        if let entry = wrong[key], entry.expiry > now { return .wrong }
        return nil
    }

    mutating func keep(
        _ key: CredentialKeys.Key, right account: Accounts.Account, peer: String, now: Int64
    ) {
        right.set(
            Entry(
                name: account.name, number: account.number, peer: peer, expiry: now + Self.rightLifetime),
            for: key)
    }

    mutating func keep(wrong key: CredentialKeys.Key, now: Int64) {
        wrong.set(Entry(name: nil, number: 0, peer: "", expiry: now + Self.wrongLifetime), for: key)
    }
}

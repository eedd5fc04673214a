#if TLS
internal import DavitCrypto
#endif

/// Derives cache keys from credentials. A key has 32 bytes and reveals nothing about the credentials; it
/// cannot be computed without the secret key.
struct CredentialKeys: Sendable {
    #if TLS
    typealias Key = KeyedDigest.Code

    /// The keyed hash function; nil if OpenSSL fails.
    private let digest = try? KeyedDigest(key: RandomBytes.make(count: 16))

    /// Returns the key for the value of an Authorization field; nil if OpenSSL fails. Without a key, the
    /// credentials are checked for every request.
    func key(for value: borrowing Span<UInt8>) -> Key? {
        do throws(CryptoError) { return try digest?.code(for: value) } catch { return nil }
    }

    /// Returns the key for a name and a password, which does not depend on their encoding in the field; nil
    /// if OpenSSL fails.
    func key(user: [UInt8], password: [UInt8]) -> Key? {
        // The leading zero byte keeps these keys distinct from those of field values, which never begin with
        // it.
        let pair = [0] + user + [UInt8(ascii: ":")] + password
        return key(for: pair.span)
    }
    #else
    struct Key: Hashable, Sendable {
        private init() {}
    }

    /// Returns nil; without hashed passwords no caching is needed.
    func key(for value: borrowing Span<UInt8>) -> Key? { nil }

    func key(user: [UInt8], password: [UInt8]) -> Key? { nil }
    #endif
}

/// A cache of credentials that were recently verified or rejected.
///
/// Avoids repeated hashing of both right and wrong credentials. Because wrong ones are cached, a program that
/// repeats an old password is not treated as a guessing attack.
struct CredentialCache: Sendable {
    enum Found {
        /// - Parameters:
        ///   - number: the number of the account.
        ///   - peer: the address from which the credentials were verified.
        case right(name: String, number: UInt64, peer: String)
        case wrong
    }

    private struct Entry: Sendable {
        /// The name of the account; nil if the credentials were wrong.
        var name: String?
        var number: UInt64
        var peer: String
        var expiry: Int64
    }

    /// Lifetime of entries for right credentials, in nanoseconds.
    static let rightLifetime: Int64 = 300_000_000_000
    /// Lifetime of entries for wrong credentials, in nanoseconds: longer than ``LoginFailureTracker/memory``,
    /// so that a client that repeats one wrong password does not accumulate failures.
    static let wrongLifetime: Int64 = 900_000_000_000
    /// Maximum number of entries per table. Each password has two: the field value as sent, and name and
    /// password.
    static let limit = 2048

    /// Separate tables, so that wrong credentials cannot evict right ones.
    private var right = BoundedCache<CredentialKeys.Key, Entry>(limit: limit)
    private var wrong = BoundedCache<CredentialKeys.Key, Entry>(limit: limit)

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

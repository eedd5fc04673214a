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
    /// - Parameter isFromForm: with a second factor, a password can be right in a form and wrong in a field.
    func key(user: [UInt8], password: [UInt8], isFromForm: Bool) -> Key? {
        // The first byte keeps these keys distinct from those of field values, which never begin with it.
        let pair = [isFromForm ? 1 : 0] + user + [UInt8(ascii: ":")] + password
        return key(for: pair.span)
    }
    #else
    struct Key: Hashable, Sendable {
        private init() {}
    }

    /// Returns nil; without hashed passwords no caching is needed.
    func key(for value: borrowing Span<UInt8>) -> Key? { nil }

    func key(user: [UInt8], password: [UInt8], isFromForm: Bool) -> Key? { nil }
    #endif
}

/// A cache of credentials that were recently verified or rejected.
///
/// Avoids repeated hashing of both right and wrong credentials. Because wrong ones are cached, a program that
/// repeats an old password is not treated as a guessing attack.
struct CredentialCache: Sendable {
    enum Found {
        /// - Parameters:
        ///   - peer: the address from which the credentials were verified.
        ///   - expiry: when they must be verified again.
        case right(Authentication.Login, peer: String, expiry: Int64)
        case wrong
    }

    private struct VerifiedEntry: Sendable {
        var login: Authentication.Login
        var peer: String
        var expiry: Int64
    }

    private struct RejectedEntry: Sendable {
        /// The hash value of the account name.
        var account: Int
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
    private var right = BoundedCache<CredentialKeys.Key, VerifiedEntry>(limit: limit)
    private var wrong = BoundedCache<CredentialKeys.Key, RejectedEntry>(limit: limit)

    func look(for key: CredentialKeys.Key, now: Int64) -> Found? {
        if let entry = right[key], entry.expiry > now {
            return .right(entry.login, peer: entry.peer, expiry: entry.expiry)
        }
        if let entry = wrong[key], entry.expiry > now { return .wrong }
        return nil
    }

    /// - Parameter lifetime: in nanoseconds; at most ``rightLifetime`` is used.
    mutating func keep(
        _ key: CredentialKeys.Key, right login: Authentication.Login, peer: String, lifetime: Int64,
        now: Int64
    ) {
        let expiry = now + min(lifetime, Self.rightLifetime)
        right.set(VerifiedEntry(login: login, peer: peer, expiry: expiry), for: key)
    }

    /// - Parameter account: the hash value of the account name.
    mutating func keep(wrong key: CredentialKeys.Key, account: Int, now: Int64) {
        wrong.set(RejectedEntry(account: account, expiry: now + Self.wrongLifetime), for: key)
    }

    /// Forgets what may no longer be true after a change of an account.
    /// - Parameters:
    ///   - account: the hash value of the account name.
    ///   - revoked: the numbers of credentials that are no longer valid.
    mutating func forget(account: Int, revoked: Set<UInt64>) {
        right.removeAll { revoked.contains($0.login.number) }
        wrong.removeAll { $0.account == account }
    }
}

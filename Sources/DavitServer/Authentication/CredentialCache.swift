#if TLS
internal import DavitCrypto
#endif

/// Stands for credentials that were sent: 32 bytes that nobody can turn back into them, or make, without the key.
struct CredentialKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64
    private let rest: UInt64

    #if TLS
    /// Nil if OpenSSL refuses; the credentials then are looked at each time.
    init?(for value: borrowing Span<UInt8>, key: [UInt8]) {
        guard let code = try? MessageCode.make(for: value, key: key.span), code.count >= 24 else {
            return nil
        }
        high = Self.word(code, at: 0)
        low = Self.word(code, at: 8)
        rest = Self.word(code, at: 16)
    }

    private static func word(_ code: [UInt8], at start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<start + 8 { word = word << 8 | UInt64(code[index]) }
        return word
    }
    #else
    /// Nil: without hashed passwords nothing has to be remembered.
    init?(for value: borrowing Span<UInt8>, key: [UInt8]) { return nil }
    #endif

    /// All bits are equally random.
    func hash(into hasher: inout Hasher) { hasher.combine(high) }
}

/// Credentials that were found right or wrong a short time ago.
///
/// Those that were right are let in without the work of a hash. Those that were wrong are refused without it, and a
/// program that repeats an old password does not count as one that guesses.
struct CredentialCache: Sendable {
    enum Found {
        case right(name: String)
        case wrong
    }

    private struct Entry: Sendable {
        /// Nil if they were wrong.
        var name: String?
        var expiry: Int64
    }

    /// For how long; nanoseconds.
    static let rightLifetime: Int64 = 300_000_000_000
    /// Longer than failures are remembered, so that a program that repeats itself never collects them.
    static let wrongLifetime: Int64 = 900_000_000_000
    static let limit = 1024

    /// Two tables, so that no wrong ones push right ones out.
    private var right = AgingTable<CredentialKey, Entry>(limit: limit)
    private var wrong = AgingTable<CredentialKey, Entry>(limit: limit)

    func look(for key: CredentialKey, now: Int64) -> Found? {
        if let entry = right[key], entry.expiry > now, let name = entry.name { return .right(name: name) }
        if let entry = wrong[key], entry.expiry > now { return .wrong }
        return nil
    }

    mutating func keep(_ key: CredentialKey, right name: String, now: Int64) {
        right.set(Entry(name: name, expiry: now + Self.rightLifetime), for: key)
    }

    mutating func keep(wrong key: CredentialKey, now: Int64) {
        wrong.set(Entry(name: nil, expiry: now + Self.wrongLifetime), for: key)
    }
}

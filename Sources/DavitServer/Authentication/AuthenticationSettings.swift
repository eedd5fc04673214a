internal import DavitCrypto
internal import DavitHTTP

/// What clients are asked for, and what is kept of passwords for it.
public struct AuthenticationSettings: Hashable, Sendable {
    /// How a client shows that it knows a password.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// RFC 7616 with SHA-256.
        case digestSHA256 = "digest-sha-256"
        /// RFC 7616 with MD5, for clients that know nothing else.
        case digestMD5 = "digest-md5"
        /// RFC 7617: the password itself, which anybody can read who sees the connection, unless that has TLS.
        case basic

        var isDigest: Bool { self != .basic }
    }

    /// The protected area, which clients show when they ask for a password. A change makes Digest secrets useless
    /// that were made for another one.
    public var realm = "davit"
    /// What is offered, in this order; clients take the first one, or the best. Digest is offered if every account
    /// has a secret for it: clients that choose it do not come back with Basic.
    public var schemes: [Scheme] = CryptoLibrary.isAvailable ? [.digestSHA256, .digestMD5, .basic] : [.basic]

    /// The realm `davit`, with Digest and Basic; Basic alone in a build without OpenSSL.
    public init() {}

    /// In bytes of UTF-8.
    static let realmLimit = 128

    /// What is wrong with these; nil if nothing is.
    package var problem: Accounts.Problem? {
        let realm = Array(realm.utf8)
        // Clients differ in whether the backslashes of a quoted string belong to what they hash.
        guard 1...Self.realmLimit ~= realm.count,
            !realm.contains(where: { $0.isControl || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
        else { return .badRealm }
        if schemes.isEmpty { return .noScheme }
        return schemes.contains(where: \.isDigest) && !CryptoLibrary.isAvailable ? .needsOpenSSL : nil
    }
}

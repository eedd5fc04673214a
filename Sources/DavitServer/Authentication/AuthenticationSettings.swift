internal import DavitCrypto
internal import DavitHTTP

/// The offered authentication schemes, and the realm for which password verifiers are stored.
public struct AuthenticationSettings: Hashable, Sendable {
    /// How a client proves that it knows a password.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// RFC 7616 with SHA-256.
        case digestSHA256 = "digest-sha-256"
        /// RFC 7616 with MD5, for clients that support nothing else.
        case digestMD5 = "digest-md5"
        /// RFC 7617. The client sends the password itself, readable on the network unless the connection uses
        /// TLS.
        case basic

        var isDigest: Bool { self != .basic }
    }

    /// The protection space, which clients display when they ask for a password. Changing it invalidates the
    /// Digest secrets that were created for the previous realm.
    public var realm = "davit"
    /// The offered schemes, in this order; clients choose the first or the strongest. Digest is offered only
    /// if every account password that is accepted has a secret for it, because clients that choose it do not
    /// fall back to Basic. App passwords work with all schemes.
    public var schemes: [Scheme] = CryptoLibrary.isAvailable ? [.digestSHA256, .digestMD5, .basic] : [.basic]

    /// Creates settings with the realm `davit` and with Digest and Basic, or Basic alone without OpenSSL.
    public init() {}

    /// Maximum length of the realm in bytes of UTF-8.
    static let realmLimit = 128

    /// The first problem with these settings; nil if they are valid.
    package var problem: Accounts.Problem? {
        let realm = Array(realm.utf8)
        // Clients disagree on whether the backslashes of a quoted string are part of the hashed text.
        guard 1...Self.realmLimit ~= realm.count,
            !realm.contains(where: { $0.isControl || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
        else { return .badRealm }
        if schemes.isEmpty { return .noScheme }
        return schemes.contains(where: \.isDigest) && !CryptoLibrary.isAvailable ? .needsOpenSSL : nil
    }
}

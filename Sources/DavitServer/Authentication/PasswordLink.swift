#if TLS
internal import DavitCrypto
internal import DavitHTTP

/// A link with which the user of an account chooses its password, once and for a limited time.
///
/// In the stored secret of the account, it follows the hash of a random password that is not stored, so it ends when
/// another password is set. Only a hash of its token is stored.
package struct PasswordLink: Hashable, Sendable {
    /// The range of the duration of a link, in hours.
    package static let hourRange = 1...(24 * 30)
    /// Maximum length of a token in bytes, of which longer ones are refused without hashing them.
    private static let limitBytes = 128
    private static let mark = "link"

    private let tokenHash: [UInt8]
    /// In seconds since 1970.
    private let expiry: Int64

    /// Creates a link.
    /// - Parameter expiry: when the link ends, in seconds since 1970.
    /// - Returns: the token, which is not stored, and the secret of the account.
    package static func make(expiry: Int64) throws(Accounts.Problem) -> (token: String, secret: String) {
        let token = Base32.encode(RandomBytes.make(count: 20)).lowercased()
        let password = Base32.encode(RandomBytes.make(count: 20))
        let hash = try Accounts.scryptText(password: password)
        guard let tokenHash = try? Digest.of(Array(token.utf8), .sha256) else { throw .failed }
        return (
            token, "\(hash)$\(mark)$\(String(decoding: HexText.encode(tokenHash), as: UTF8.self))$\(expiry)"
        )
    }

    /// Splits the stored secret of an account into the hash of its password, and the link if it has one.
    package static func split(_ secret: String) -> (hash: String, link: PasswordLink?) {
        // Nearly all secrets end here.
        guard let last = secret.utf8.last, last.isDigit else { return (secret, nil) }
        let parts = secret.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count > 3, parts[parts.count - 3] == mark, let expiry = Int64(parts[parts.count - 1]),
            let hash = HexText.decode(Array(parts[parts.count - 2].utf8)), hash.count == 32
        else { return (secret, nil) }
        return (
            parts.dropLast(3).joined(separator: "$"), PasswordLink(tokenHash: hash, expiry: expiry)
        )
    }

    /// Returns whether a token is that of the link, and the link has not ended.
    /// - Parameter now: in seconds since 1970.
    package func accepts(_ token: String, now: Int64) -> Bool {
        guard now < expiry, token.utf8.count <= Self.limitBytes,
            let hash = try? Digest.of(Array(token.utf8), .sha256)
        else { return false }
        return ConstantTime.areEqual(hash, tokenHash)
    }

    /// Returns the query of the URL with which the link is opened.
    package static func query(account: String, token: String) -> String {
        var name: [UInt8] = []
        PercentCoding.append(Array(account.utf8), to: &name)
        return "?account&name=\(String(decoding: name, as: UTF8.self))&link=\(token)"
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}

/// The links with which users choose their passwords.
package protocol PasswordLinkStore: Sendable {
    /// Returns the link of an account; nil if it has none.
    func link(of account: String) -> PasswordLink?

    /// Sets the password of an account, which ends its link and all its sessions. Blocks.
    /// - Parameters:
    ///   - link: the link that was checked.
    ///   - address: that of the client.
    /// - Returns: false if the account has no such link any more.
    func set(
        _ password: String, of account: String, by link: PasswordLink, from address: String
    ) throws(SessionStoreError) -> Bool
}
#endif

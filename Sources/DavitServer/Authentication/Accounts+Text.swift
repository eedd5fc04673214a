#if TLS
internal import DavitCrypto
#endif

/// Accounts as they stand in a file.
extension Accounts {
    /// What ``add(name:hash:)`` takes, for Basic alone. Blocks for 50 to 100 ms.
    package static func scryptText(password: String) throws(Problem) -> String {
        #if TLS
        do throws(CryptoError) { return try PasswordHash(of: Array(password.utf8)).text } catch {
            throw .failed
        }
        #else
        throw .needsOpenSSL
        #endif
    }

    /// What ``add(name:hash:)`` takes, for Basic and Digest.
    package static func digestText(name: String, password: String, realm: String) throws(Problem) -> String {
        #if TLS
        do throws(CryptoError) {
            return try AccountSecret.digestText(
                user: Array(name.utf8), password: Array(password.utf8), realm: realm)
        } catch {
            throw .failed
        }
        #else
        throw .needsOpenSSL
        #endif
    }

    /// Splits `NAME:PASSWORD` at its first colon (RFC 7617 §2). Nil without a colon, or if a part is empty.
    ///
    /// The colon is a byte: it ends the name also where a combining mark follows it.
    package static func nameAndPassword(of text: String) -> (name: String, password: String)? {
        let parts = text.utf8.split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        return (String(Substring(parts[0])), String(Substring(parts[1])))
    }

    /// Whether a text in place of a password is meant to be a hash, of whatever kind: `$scrypt$…`, but also the
    /// `$2y$…`, `$apr1$…` or `$6$…` of other programs, which nobody has as a password.
    package static func isHash(_ text: String) -> Bool {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "$"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, 1...10 ~= parts[1].count else { return false }
        return parts[1].allSatisfy { byte in
            (48...57 ~= byte) || (97...122 ~= byte) || byte == UInt8(ascii: "-")
        }
    }
}

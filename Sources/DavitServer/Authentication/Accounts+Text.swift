#if TLS
internal import DavitCrypto
#endif

/// The text form of accounts in a file.
extension Accounts {
    /// Returns a hash for ``add(name:hash:)`` that supports Basic only. Blocks for 50 to 100 ms.
    package static func scryptText(password: String) throws(Problem) -> String {
        #if TLS
        let password = Array(password.utf8)
        // Otherwise the password would be refused without a comparison, because it looks like a wrong app password.
        let mark = AppPassword(password) == nil ? "" : AccountSecret.appPasswordFormMark
        do throws(CryptoError) { return try PasswordHash(of: password).text + mark } catch {
            throw .failed
        }
        #else
        throw .needsOpenSSL
        #endif
    }

    /// Returns a hash for ``add(name:hash:)`` that supports Basic and Digest.
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

    /// Whether a text given as a password has the form of a hash: `$scrypt$…` or `$digest$…`, or a form that
    /// other programs use, such as `$2y$…`, `$apr1$…` or `$6$…`. A real password is unlikely to have this
    /// form.
    package static func isHash(_ text: String) -> Bool {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "$"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, 1...10 ~= parts[1].count else { return false }
        return parts[1].allSatisfy { byte in
            (48...57 ~= byte) || (97...122 ~= byte) || byte == UInt8(ascii: "-")
        }
    }
}

extension Accounts.Problem {
    /// A message for the person who configures the account.
    package var text: String {
        switch self {
        case .badName: "names must not be empty or contain a colon"
        case .emptyPassword: "the password is empty"
        case .tooLong: "names and passwords can have at most \(Accounts.limitBytes) bytes"
        case .controlCharacter: "control characters are not allowed"
        case .duplicate: "duplicate account name"
        case .badHash: "unsupported hash format"
        case .otherRealm: "the Digest secrets are for another realm"
        case .badRealm:
            "a realm must have 1 to 128 bytes without quotes, backslashes or control characters"
        case .noScheme: "no authentication scheme works for all accounts"
        case .needsOpenSSL: "Digest and hashed passwords require OpenSSL, which this build does not include"
        case .failed: "rejected by OpenSSL"
        }
    }
}

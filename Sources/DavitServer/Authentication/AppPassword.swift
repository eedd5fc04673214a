internal import DavitCrypto
internal import DavitHTTP

/// A password that the server creates for one device or program: 20 random characters, each one of 32 (RFC 4648
/// §6), which are 100 bits. They cannot be guessed, so a fast hash protects them.
package struct AppPassword: Sendable {
    package static let length = 20
    private static let groupLength = 5
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The characters in lower case, without separators.
    let canonical: [UInt8]

    /// Creates a random password.
    package init() { canonical = RandomBytes.make(count: Self.length).map { Self.alphabet[Int($0 & 31)] } }

    /// Parses a password in any case, with or without hyphens and spaces; returns nil if it does not have the form of an
    /// app password.
    init?(_ text: [UInt8]) {
        guard text.count >= Self.length, text.count <= 2 * Self.length else { return nil }
        var found: [UInt8] = []
        found.reserveCapacity(Self.length)
        for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let byte = byte.lowercasedASCII
            let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            guard isLetter || UInt8(ascii: "2")...UInt8(ascii: "7") ~= byte, found.count < Self.length else {
                return nil
            }
            found.append(byte)
        }
        guard found.count == Self.length else { return nil }
        canonical = found
    }

    /// The password in groups, for reading: `abcde-fghij-klmno-pqrst`.
    package var text: String { String(decoding: grouped, as: UTF8.self) }

    private var grouped: [UInt8] {
        var grouped: [UInt8] = []
        for (index, byte) in canonical.enumerated() {
            if index > 0, index % Self.groupLength == 0 { grouped.append(UInt8(ascii: "-")) }
            grouped.append(byte)
        }
        return grouped
    }

    /// The spellings with which a client can use Digest, for which the server needs a secret per spelling. Basic accepts
    /// every spelling.
    var digestSpellings: [[UInt8]] { [grouped, canonical] }

    /// Creates a random ID for an app password, which is not secret.
    package static func makeID() -> String {
        String(decoding: RandomBytes.make(count: 8).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    /// Returns what the server stores instead of the password, for ``Accounts/AppPasswordEntry``.
    package func secret(account: String, realm: String) throws(Accounts.Problem) -> String {
        try AppPasswordSecret(self, account: account, realm: realm).text
    }
}

#if TLS
/// The stored verifier of an app password.
struct AppPasswordSecret: Equatable, Sendable {
    private static let prefix = "$app$sha-256="
    /// Precedes the password in the hash, so that the hash cannot be used elsewhere.
    private static let purpose = Array("davit app password:".utf8)

    /// The hash by which Basic credentials are found.
    let hash: [UInt8]
    /// The Digest secrets of each spelling; empty if they are for another realm than that of the server.
    let digests: [DigestSecret]
    private let realm: [UInt8]

    init(_ password: AppPassword, account: String, realm: String) throws(Accounts.Problem) {
        self.realm = Array(realm.utf8)
        hash = try Self.hash(of: password)
        var digests: [DigestSecret] = []
        for spelling in password.digestSpellings {
            for algorithm in DigestSecret.Algorithm.allCases {
                // OpenSSL in FIPS mode has no MD5.
                let secret = try? DigestSecret(
                    user: Array(account.utf8), realm: self.realm, password: spelling, algorithm: algorithm)
                if let secret { digests.append(secret) }
            }
        }
        self.digests = digests
    }

    static func hash(of password: AppPassword) throws(Accounts.Problem) -> [UInt8] {
        do throws(CryptoError) { return try Digest.of(purpose + password.canonical, .sha256) } catch {
            throw .failed
        }
    }

    /// `$app$sha-256=HASH$`, the Digest secrets separated by commas, `$` and the realm.
    var text: String {
        let hash = String(decoding: HexText.encode(hash), as: UTF8.self)
        let digests = digests.map(\.storedText).joined(separator: ",")
        return "\(Self.prefix)\(hash)$\(digests)$\(String(decoding: realm, as: UTF8.self))"
    }

    /// - Parameter realm: the realm of the server. With another one, the password can only be used with Basic.
    init(parsing text: String, realm: [UInt8]) throws(Accounts.Problem) {
        guard text.hasPrefix(Self.prefix) else { throw .badHash }
        let parts = text.dropFirst(Self.prefix.count).split(
            separator: "$", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hash = HexText.decode(Array(parts[0].utf8)), hash.count == 32 else {
            throw .badHash
        }
        self.hash = hash
        self.realm = Array(parts[2].utf8)
        var digests: [DigestSecret] = []
        for part in parts[1].split(separator: ",") {
            guard let secret = DigestSecret(storedText: part) else { throw .badHash }
            digests.append(secret)
        }
        self.digests = self.realm == realm ? digests : []
    }
}
#else
/// Builds without OpenSSL have no hash functions, and thus no app passwords.
struct AppPasswordSecret: Equatable, Sendable {
    let hash: [UInt8]

    init(_ password: AppPassword, account: String, realm: String) throws(Accounts.Problem) {
        throw .needsOpenSSL
    }

    init(parsing text: String, realm: [UInt8]) throws(Accounts.Problem) { throw .needsOpenSSL }

    static func hash(of password: AppPassword) throws(Accounts.Problem) -> [UInt8] { throw .needsOpenSSL }

    var text: String { "" }
}
#endif

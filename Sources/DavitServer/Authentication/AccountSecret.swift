#if TLS
internal import DavitCrypto
internal import DavitHTTP

/// The stored verifier of a password.
struct AccountSecret: Equatable, Sendable {
    /// The text of a scrypt hash, which is parsed for each comparison: with many accounts, parsing all of them would take
    /// most of the start, and twice the memory. Empty if there are Digest secrets.
    private var hashText = ""
    private var digests: [DigestSecret]
    private let realm: [UInt8]
    /// Whether the password has the form of an app password. False for a hash that was not made by this version.
    private(set) var hasAppPasswordForm = false

    /// Follows a hash whose password has the form of an app password.
    static let appPasswordFormMark = "$app-form"

    /// Stores Digest secrets if a Digest scheme is enabled, else a scrypt hash. A scrypt hash in addition to
    /// Digest secrets would not protect the password any better, because Digest secrets are easier to attack,
    /// and verifying a password with a Digest secret takes only microseconds.
    init(
        user: [UInt8], password: [UInt8], settings: AuthenticationSettings
    ) throws(Accounts.Problem) {
        realm = Array(settings.realm.utf8)
        digests = []
        for scheme in settings.schemes {
            guard let algorithm = scheme.algorithm else { continue }
            // OpenSSL in FIPS mode has no MD5; MD5 is then not offered.
            let secret = try? DigestSecret(user: user, realm: realm, password: password, algorithm: algorithm)
            if let secret { digests.append(secret) }
        }
        hasAppPasswordForm = AppPassword(password) != nil
        guard digests.isEmpty else { return }
        do throws(CryptoError) { hashText = try PasswordHash(of: password).text } catch { throw .failed }
    }

    /// Parses `$scrypt$ln=N,r=N,p=N$SALT$HASH`, possibly with ``appPasswordFormMark``, or
    /// `$digest$sha-256=HEX,md5=HEX$REALM` with one or both digests. A ``PasswordLink`` may follow.
    /// - Parameter isValid: whether a scrypt hash is known to be valid, because the database contains only such.
    init(
        parsing secret: String, settings: AuthenticationSettings, isValid: Bool = false
    ) throws(Accounts.Problem) {
        let text = PasswordLink.split(secret).hash
        if isValid, text.hasPrefix("$scrypt$") {
            (realm, digests) = ([], [])
            hasAppPasswordForm = text.hasSuffix(Self.appPasswordFormMark)
            hashText = hasAppPasswordForm ? String(text.dropLast(Self.appPasswordFormMark.count)) : text
            return
        }
        realm = Array(settings.realm.utf8)
        digests = []
        if text.hasPrefix("$scrypt$") {
            hasAppPasswordForm = text.hasSuffix(Self.appPasswordFormMark)
            let hashText =
                hasAppPasswordForm ? String(text.dropLast(Self.appPasswordFormMark.count)) : text
            do throws(PasswordHash.ParseError) { _ = try PasswordHash(parsing: hashText) } catch {
                throw .badHash
            }
            self.hashText = hashText
            return
        }
        let parts = text.split(separator: "$", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "digest" else { throw .badHash }
        for part in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
            guard let secret = DigestSecret(storedText: part),
                !digests.contains(where: { $0.algorithm == secret.algorithm })
            else { throw .badHash }
            digests.append(secret)
        }
        guard Array(parts[3].utf8) == realm else { throw .otherRealm }
    }

    /// Returns the text form of Digest secrets, for storage in a file.
    static func digestText(
        user: [UInt8], password: [UInt8], realm: String
    ) throws(CryptoError) -> String {
        var parts: [String] = []
        for algorithm in DigestSecret.Algorithm.allCases {
            let secret = try DigestSecret(
                user: user, realm: Array(realm.utf8), password: password, algorithm: algorithm)
            parts.append(secret.storedText)
        }
        return "$digest$\(parts.joined(separator: ","))$\(realm)"
    }

    func allows(_ scheme: AuthenticationSettings.Scheme) -> Bool {
        guard let algorithm = scheme.algorithm else { return true }
        return digest(algorithm) != nil
    }

    func digest(_ algorithm: DigestSecret.Algorithm) -> DigestSecret? {
        digests.first { $0.algorithm == algorithm }
    }

    /// Whether the account password can be used with Digest.
    var isForDigest: Bool { !digests.isEmpty }

    /// Whether ``matches(_:of:)`` takes only microseconds and may run on an event loop.
    var isQuick: Bool { hashText.isEmpty }

    /// Whether `password` is correct. The time taken does not reveal the stored value.
    func matches(_ password: [UInt8], of user: [UInt8]) -> Bool {
        do throws(CryptoError) {
            if !hashText.isEmpty {
                guard let hash = try? PasswordHash(parsing: hashText) else { return false }
                return try hash.matches(password)
            }
            guard let kept = digests.first else { return false }
            let candidate = try DigestSecret(
                user: user, realm: realm, password: password, algorithm: kept.algorithm)
            return ConstantTime.areEqual(candidate.digits, kept.digits)
        } catch {
            return false
        }
    }

    /// Returns the values that a client may send instead of the user name (RFC 7616 §3.4.4), in lower-case
    /// hexadecimal.
    static func userHashes(of user: [UInt8], realm: String) -> [[UInt8]] {
        let text = user + [UInt8(ascii: ":")] + Array(realm.utf8)
        return DigestSecret.Algorithm.allCases.compactMap { algorithm in
            (try? Digest.of(text, algorithm == .md5 ? .md5 : .sha256)).map(HexText.encode)
        }
    }
}

extension AuthenticationSettings.Scheme {
    var algorithm: DigestSecret.Algorithm? {
        switch self {
        case .digestSHA256: .sha256
        case .digestMD5: .md5
        case .basic: nil
        }
    }
}

extension DigestSecret {
    /// The text form in files and databases: the algorithm and the digits.
    var storedText: String { "\(algorithm.storedName)=\(String(decoding: digits, as: UTF8.self))" }

    /// Parses the text that ``storedText`` returns; returns nil if it has another form.
    init?(storedText text: Substring) {
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, let algorithm = Algorithm.allCases.first(where: { $0.storedName == pair[0] })
        else { return nil }
        self.init(digits: Array(pair[1].utf8), algorithm: algorithm)
    }
}

extension DigestSecret.Algorithm {
    /// The name of the algorithm in files and databases.
    fileprivate var storedName: String {
        switch self {
        case .sha256: "sha-256"
        case .md5: "md5"
        }
    }
}
#else
/// A password padded to a fixed length, so that comparison takes constant time. Used in builds without
/// OpenSSL, which have no hash functions.
struct AccountSecret: Equatable, Sendable {
    /// The password followed by zeros. A password contains no zero byte, so its end is unambiguous.
    private let padded: [UInt8]

    init(
        user: [UInt8], password: [UInt8], settings: AuthenticationSettings
    ) throws(Accounts.Problem) {
        padded = password + [UInt8](repeating: 0, count: max(0, Accounts.limitBytes - password.count))
    }

    init(
        parsing text: String, settings: AuthenticationSettings, isValid: Bool = false
    ) throws(Accounts.Problem) {
        throw .needsOpenSSL
    }

    func allows(_ scheme: AuthenticationSettings.Scheme) -> Bool { scheme == .basic }

    var isForDigest: Bool { false }

    var hasAppPasswordForm: Bool { false }

    var isQuick: Bool { true }

    func matches(_ password: [UInt8], of user: [UInt8]) -> Bool {
        var difference = password.count > Accounts.limitBytes ? UInt8(1) : 0
        for index in 0..<Accounts.limitBytes {
            let byte = index < password.count ? password[index] : 0
            difference |= byte ^ padded[index]
        }
        return difference == 0
    }

    static func userHashes(of user: [UInt8], realm: String) -> [[UInt8]] { [] }
}
#endif

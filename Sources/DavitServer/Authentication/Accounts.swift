internal import DavitHTTP
internal import Synchronization

/// The user names and password verifiers for ``Authentication``.
///
/// With OpenSSL, passwords are not stored: adding an account stores its Digest secrets, or a salted scrypt
/// hash if no Digest scheme is enabled. A build without OpenSSL supports neither and keeps passwords in
/// memory in plain text.
public struct Accounts: Sendable {
    /// The reason why an account or the list of accounts is unusable.
    public enum Problem: Error, Hashable, Sendable {
        /// The name is empty or contains a colon (RFC 7617 §2).
        case badName
        /// The password is empty.
        case emptyPassword
        /// The name or password exceeds ``Accounts/limitBytes`` in UTF-8.
        case tooLong
        /// The name or password contains a control character, which RFC 7617 §2 forbids.
        case controlCharacter
        /// An account with this name already exists.
        case duplicate
        /// The text is not a hash of a supported kind.
        case badHash
        /// The Digest secret was created for a different realm.
        case otherRealm
        /// The realm is empty, exceeds 128 bytes, or contains control characters, quotes or backslashes.
        case badRealm
        /// No scheme is enabled, or no scheme is usable by every account.
        case noScheme
        /// This build has no OpenSSL and supports neither Digest nor hashed passwords.
        case needsOpenSSL
        /// An OpenSSL operation failed.
        case failed
    }

    /// Maximum length of a name and of a password, in bytes.
    public static let limitBytes = 256

    struct Account: Sendable {
        var name: String
        var secret: AccountSecret
        /// See ``HTTPRequest/credentialNumber``.
        var number: UInt64 = 0
    }

    private static let lastNumber = Atomic<UInt64>(0)

    let settings: AuthenticationSettings
    private var list: [Account] = []
    private var indexByName: [[UInt8]: Int] = [:]
    /// Accounts by their user name digests (RFC 7616 §3.4.4), in hexadecimal.
    private var indexByHash: [[UInt8]: Int] = [:]
    /// Secrets of the previous accounts that ``add(name:password:)`` may reuse; nil if there are none, and
    /// after the accounts have been numbered.
    private var reusable: [[UInt8]: AccountSecret]?

    /// Creates an empty list. The settings determine which verifiers are stored.
    public init(_ settings: AuthenticationSettings = AuthenticationSettings()) { self.settings = settings }

    /// Creates an empty list that reuses secrets. If a password matches the secret of the same account in
    /// `previous`, that secret is kept, so that the account counts as unchanged; a new scrypt hash would have
    /// a different salt.
    package init(_ settings: AuthenticationSettings, reusingSecretsOf previous: Accounts) {
        self.settings = settings
        guard previous.settings == settings else { return }
        reusable = previous.indexByName.mapValues { previous.list[$0].secret }
    }

    /// Whether the list has no accounts.
    public var isEmpty: Bool { list.isEmpty }

    /// Adds an account. Blocks for 50 to 100 ms if no Digest scheme is enabled.
    /// - Throws: ``Problem``; the list is then unchanged.
    public mutating func add(name: String, password: String) throws(Problem) {
        let password = Array(password.utf8)
        try check(name)
        guard !password.isEmpty else { throw .emptyPassword }
        guard password.count <= Self.limitBytes else { throw .tooLong }
        for byte in password where byte < 32 || byte == 127 { throw .controlCharacter }
        let user = Array(name.utf8)
        if let known = reusable?[user], known.matches(password, of: user) { return add(name, known) }
        add(name, try AccountSecret(user: user, password: password, settings: settings))
    }

    /// Adds an account by its password hash.
    /// - Parameter hash: `$scrypt$…` or `$digest$…`, as printed by `davit password`.
    /// - Throws: ``Problem``; the list is then unchanged.
    public mutating func add(name: String, hash: String) throws(Problem) {
        try check(name)
        add(name, try AccountSecret(parsing: hash, settings: settings))
    }

    private func check(_ name: String) throws(Problem) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, !bytes.contains(UInt8(ascii: ":")) else { throw .badName }
        guard bytes.count <= Self.limitBytes else { throw .tooLong }
        for byte in bytes where byte < 32 || byte == 127 { throw .controlCharacter }
        guard indexByName[bytes] == nil else { throw .duplicate }
    }

    private mutating func add(_ name: String, _ secret: AccountSecret) {
        let bytes = Array(name.utf8)
        for hash in AccountSecret.userHashes(of: bytes, realm: settings.realm) {
            indexByHash[hash] = list.count
        }
        indexByName[bytes] = list.count
        list.append(Account(name: name, secret: secret))
    }

    /// Assigns each account a number: its number in `previous` if the secret is unchanged, else a new one.
    /// - Returns: the numbers in `previous` that are no longer used.
    mutating func number(keepingThoseOf previous: Accounts?) -> Set<UInt64> {
        reusable = nil
        var revoked = Set(previous?.list.map(\.number) ?? [])
        for index in list.indices {
            let known = previous.flatMap { $0.indexByName[Array(list[index].name.utf8)].map($0.account(at:)) }
            if let known, known.secret == list[index].secret {
                list[index].number = known.number
                revoked.remove(known.number)
            } else {
                list[index].number = Self.lastNumber.add(1, ordering: .relaxed).newValue
            }
        }
        return revoked
    }

    private func account(at index: Int) -> Account { list[index] }

    /// The schemes that every account supports, in the order of the settings.
    package var schemes: [AuthenticationSettings.Scheme] {
        settings.schemes.filter { scheme in list.allSatisfy { $0.secret.allows(scheme) } }
    }

    /// Returns the account named `name`. For an unknown name, returns another account with `isKnown` false,
    /// always the same one for the same name, so that checking an unknown name costs as much as checking an
    /// existing account. Returns nil only if the list is empty.
    func account(named name: [UInt8]) -> (account: Account, isKnown: Bool)? {
        if let index = indexByName[name] { return (list[index], true) }
        return placeholderAccount(for: name).map { ($0, false) }
    }

    /// Like ``account(named:)``, but finds the account by the digest of its name and the realm (RFC 7616
    /// §3.4.4).
    func account(hashed digits: [UInt8]) -> (account: Account, isKnown: Bool)? {
        if let index = indexByHash[digits] { return (list[index], true) }
        return placeholderAccount(for: digits).map { ($0, false) }
    }

    private func placeholderAccount(for name: [UInt8]) -> Account? {
        guard !list.isEmpty else { return nil }
        // Swift seeds hash values randomly per process, so clients cannot predict which account is used.
        return list[Int(UInt(bitPattern: name.hashValue) % UInt(list.count))]
    }
}

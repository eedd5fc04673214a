internal import DavitHTTP
internal import Synchronization

/// Names, and what is kept of their passwords, for ``Authentication``.
///
/// Passwords are not kept. Of one that is added, the Digest secrets are, or a salted scrypt hash where no Digest scheme
/// is wanted. In a build without OpenSSL, which has neither, passwords are kept in memory as they are.
public struct Accounts: Sendable {
    /// Why an account, or the list, cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        /// The name is empty or has a colon (RFC 7617 §2).
        case badName
        /// A password needs a character.
        case emptyPassword
        /// Over ``Accounts/limitBytes`` in UTF-8.
        case tooLong
        /// A control character, which RFC 7617 §2 forbids in both.
        case controlCharacter
        /// There already is an account of this name.
        case duplicate
        /// A text that is no hash, or of a kind that is not known here.
        case badHash
        /// A Digest secret for another realm than that of the settings.
        case otherRealm
        /// The realm is empty, has over 128 bytes, control characters, quotes or backslashes.
        case badRealm
        /// None of the schemes can be used by every account.
        case noScheme
        /// This build has no OpenSSL: no Digest, and no hashed passwords.
        case needsOpenSSL
        /// OpenSSL has refused.
        case failed
    }

    /// The longest name and the longest password, in bytes.
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
    /// The digests of RFC 7616 §3.4.4, as digits.
    private var indexByHash: [[UInt8]: Int] = [:]
    /// The secrets that are used again; nil when all accounts are added.
    private var reusable: [[UInt8]: AccountSecret]?

    /// No account yet; the settings decide what is kept of passwords.
    public init(_ settings: AuthenticationSettings = AuthenticationSettings()) { self.settings = settings }

    /// No account yet. A password that is right for an account of `previous` gets the secret that this account has there,
    /// so that it counts as unchanged: a new scrypt hash would have another salt.
    package init(_ settings: AuthenticationSettings, reusingSecretsOf previous: Accounts) {
        self.settings = settings
        guard previous.settings == settings else { return }
        reusable = previous.indexByName.mapValues { previous.list[$0].secret }
    }

    /// True before the first account.
    public var isEmpty: Bool { list.isEmpty }

    /// Adds an account. Blocks for 50 to 100 ms where no Digest scheme is wanted.
    /// - Throws: ``Problem``; the list stays as it was.
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

    /// Adds an account of which only this is known.
    /// - Parameter hash: `$scrypt$…` or `$digest$…`, as `davit password` prints them.
    /// - Throws: ``Problem``; the list stays as it was.
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

    /// Gives each account a number: the one that it has in `previous` if its secret is the same there, else a new one.
    /// - Returns: the numbers in `previous` that are not used any more.
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

    /// The schemes that every account can use, in the order of the settings.
    package var schemes: [AuthenticationSettings.Scheme] {
        settings.schemes.filter { scheme in list.allSatisfy { $0.secret.allows(scheme) } }
    }

    /// The account of a name; or of another one, with `isKnown` false, that stands in for it: so that an unknown name
    /// costs the work of some account that is there, always the same one for the same name.
    func account(named name: [UInt8]) -> (account: Account, isKnown: Bool)? {
        if let index = indexByName[name] { return (list[index], true) }
        return standIn(for: name).map { ($0, false) }
    }

    /// As ``account(named:)``, by the digest of name and realm (RFC 7616 §3.4.4).
    func account(hashed digits: [UInt8]) -> (account: Account, isKnown: Bool)? {
        if let index = indexByHash[digits] { return (list[index], true) }
        return standIn(for: digits).map { ($0, false) }
    }

    private func standIn(for name: [UInt8]) -> Account? {
        guard !list.isEmpty else { return nil }
        // Swift's hash values have a random key in each process, so that nobody outside can tell who stands in.
        return list[Int(UInt(bitPattern: name.hashValue) % UInt(list.count))]
    }
}

package import DavitAccess
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

    /// An account of a database.
    package struct Entry: Sendable {
        package let name: String
        /// As in ``Accounts/add(name:hash:)``.
        package let hash: String
        /// Whether requests can use the password of the account. If not, they need an app password.
        package let allowsAccountPassword: Bool
        package let appPasswords: [AppPasswordEntry]

        package init(
            name: String, hash: String, allowsAccountPassword: Bool = true,
            appPasswords: [AppPasswordEntry] = []
        ) {
            self.name = name
            self.hash = hash
            self.allowsAccountPassword = allowsAccountPassword
            self.appPasswords = appPasswords
        }
    }

    /// An app password of an account in a database.
    package struct AppPasswordEntry: Sendable {
        package let id: String
        /// The text that ``AppPassword/secret(account:realm:)`` returns.
        package let secret: String
        package let limit: AccessLimit?
        /// When it expires, in seconds since 1970; nil if it does not.
        package let expiry: Int64?

        package init(id: String, secret: String, limit: AccessLimit? = nil, expiry: Int64? = nil) {
            self.id = id
            self.secret = secret
            self.limit = limit
            self.expiry = expiry
        }
    }

    struct Account: Sendable {
        var name: String
        var secret: AccountSecret
        /// See ``Entry/allowsAccountPassword``.
        var allowsAccountPassword = true
        var appPasswords: [AppPasswordCredential] = []
        /// The ``HTTPRequest/credentialNumber`` of the password of the account.
        var number: UInt64 = 0

        /// Whether a scheme works for the account. If its password is not accepted, only app passwords remain, which work
        /// with all schemes.
        func allows(_ scheme: AuthenticationSettings.Scheme) -> Bool {
            !allowsAccountPassword || secret.allows(scheme)
        }

        /// Keeps the numbers of the credentials that are the same in `previous`, and assigns new numbers to the others.
        /// - Returns: the numbers in `previous` that are no longer used.
        mutating func number(keepingThoseOf previous: Account?) -> Set<UInt64> {
            var revoked = Set(previous?.appPasswords.map(\.number) ?? [])
            if let previous, previous.secret == secret {
                number = previous.number
                // Sessions continue, but not requests with the password alone.
                if previous.allowsAccountPassword, !allowsAccountPassword { revoked.insert(number) }
            } else {
                number = Accounts.nextNumber()
                if let previous { revoked.insert(previous.number) }
            }
            for (index, password) in appPasswords.enumerated() {
                guard let known = previous?.appPasswords.first(where: { $0.isSame(as: password) }) else {
                    continue
                }
                appPasswords[index] = known
                revoked.remove(known.number)
            }
            return revoked
        }
    }

    enum Standing {
        case account(Account)
        case disabled
        /// There is no account with this name.
        case unknown
    }

    private static let lastNumber = Atomic<UInt64>(0)

    /// Returns a number that no credential has had in this process.
    package static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    let settings: AuthenticationSettings
    private var list: [Account] = []
    /// Names that are canonically equivalent in Unicode are one name.
    private var indexByName: [String: Int] = [:]
    private var disabled: Set<String> = []
    /// Accounts that can use Digest by their user name digests (RFC 7616 §3.4.4), in hexadecimal.
    private var indexByHash: [[UInt8]: Int] = [:]
    /// How many accounts prevent each scheme from being offered.
    private var unsupported: [AuthenticationSettings.Scheme: Int] = [:]
    /// Secrets of the previous accounts that ``add(name:password:)`` may reuse; nil if there are none, and
    /// after the accounts have been numbered.
    private var reusable: [String: AccountSecret]?

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
        try check(name)
        try Self.check(password: password)
        let password = Array(password.utf8)
        let user = Array(name.utf8)
        if let known = reusable?[name], known.matches(password, of: user) { return add(name, known) }
        add(name, try AccountSecret(user: user, password: password, settings: settings))
    }

    /// Adds an account by its password hash.
    /// - Parameter hash: `$scrypt$…` or `$digest$…`, as printed by `davit password`.
    /// - Throws: ``Problem``; the list is then unchanged.
    public mutating func add(name: String, hash: String) throws(Problem) {
        try check(name)
        add(name, try AccountSecret(parsing: hash, settings: settings))
    }

    /// Checks that a password can be used, without hashing it.
    package static func check(password: String) throws(Problem) {
        guard !password.isEmpty else { throw .emptyPassword }
        guard password.utf8.count <= limitBytes else { throw .tooLong }
        if password.utf8.contains(where: \.isControl) { throw .controlCharacter }
    }

    private func check(_ name: String) throws(Problem) {
        if let problem = Self.problem(ofName: name) { throw problem }
        guard indexByName[name] == nil else { throw .duplicate }
    }

    /// Returns the reason why a name cannot be that of an account, or nil if it can.
    package static func problem(ofName name: String) -> Problem? {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, !bytes.contains(UInt8(ascii: ":")) else { return .badName }
        guard bytes.count <= limitBytes else { return .tooLong }
        return bytes.contains(where: \.isControl) ? .controlCharacter : nil
    }

    /// Refuses a name: it cannot sign in by any means, even if another program confirms its identity.
    package mutating func disable(_ name: String) { disabled.insert(name) }

    /// The local standing of a name whose identity another program has confirmed.
    func standing(of name: [UInt8]) -> Standing {
        guard let name = String(validating: name, as: UTF8.self) else { return .unknown }
        if disabled.contains(name) { return .disabled }
        return indexByName[name].map { .account(list[$0]) } ?? .unknown
    }

    private mutating func add(_ name: String, _ secret: AccountSecret) {
        append(Account(name: name, secret: secret))
    }

    // MARK: Accounts of a database

    /// Adds an account with its app passwords.
    /// - Throws: ``Problem``; the list is then unchanged.
    package mutating func add(_ entry: Entry) throws(Problem) {
        try check(entry.name)
        append(try account(entry))
    }

    /// Replaces the account `name`, adds it, or removes it if `entry` is nil. Takes constant time.
    /// - Parameter isDisabled: whether an account that is removed is only disabled; see ``disable(_:)``.
    /// - Returns: the ``HTTPRequest/credentialNumber`` of each credential that is no longer valid. If there is a problem
    ///   with the entry, the account is removed.
    mutating func update(
        _ name: String, to entry: Entry?, isDisabled: Bool = false
    ) -> (revoked: Set<UInt64>, problem: Problem?) {
        if isDisabled { disabled.insert(name) } else { disabled.remove(name) }
        var problem: Problem?
        var new: Account?
        let index = indexByName[name]
        let previous = index.map { list[$0] }
        if let index { remove(at: index) }
        if let entry {
            do throws(Problem) {
                try check(entry.name)
                new = try account(entry)
            } catch {
                problem = error
            }
        }
        guard var new else {
            guard let previous else { return ([], problem) }
            return (Set(previous.appPasswords.map(\.number) + [previous.number]), problem)
        }
        let revoked = new.number(keepingThoseOf: previous)
        append(new)
        return (revoked, nil)
    }

    private func account(_ entry: Entry) throws(Problem) -> Account {
        var account = Account(
            name: entry.name,
            secret: try AccountSecret(
                parsing: entry.hash, settings: settings, isValid: true),
            allowsAccountPassword: entry.allowsAccountPassword)
        let realm = Array(settings.realm.utf8)
        for password in entry.appPasswords {
            account.appPasswords.append(
                try AppPasswordCredential(
                    password, account: entry.name, realm: realm, number: Self.nextNumber()))
        }
        return account
    }

    // MARK: Indexes

    private mutating func append(_ account: Account) {
        index(account, at: list.count)
        for scheme in settings.schemes where !account.allows(scheme) { unsupported[scheme, default: 0] += 1 }
        list.append(account)
    }

    private mutating func remove(at position: Int) {
        let account = list[position]
        indexByName[account.name] = nil
        for hash in userHashes(of: account) { indexByHash[hash] = nil }
        for scheme in settings.schemes where !account.allows(scheme) { unsupported[scheme, default: 0] -= 1 }
        let last = list.removeLast()
        guard position < list.count else { return }
        list[position] = last
        index(last, at: position)
    }

    private mutating func index(_ account: Account, at position: Int) {
        for hash in userHashes(of: account) { indexByHash[hash] = position }
        indexByName[account.name] = position
    }

    private func userHashes(of account: Account) -> [[UInt8]] {
        guard account.secret.isForDigest || !account.appPasswords.isEmpty else { return [] }
        return AccountSecret.userHashes(of: Array(account.name.utf8), realm: settings.realm)
    }

    /// Assigns each account a number: its number in `previous` if the secret is unchanged, else a new one.
    /// - Returns: the numbers in `previous` that are no longer used.
    mutating func number(keepingThoseOf previous: Accounts?) -> Set<UInt64> {
        reusable = nil
        var revoked: Set<UInt64> = []
        for index in list.indices {
            let known = previous.flatMap { $0.indexByName[list[index].name].map($0.account(at:)) }
            revoked.formUnion(list[index].number(keepingThoseOf: known))
        }
        for account in previous?.list ?? [] where indexByName[account.name] == nil {
            revoked.formUnion(account.appPasswords.map(\.number) + [account.number])
        }
        return revoked
    }

    private func account(at index: Int) -> Account { list[index] }

    /// The schemes that every account supports, in the order of the settings.
    package var schemes: [AuthenticationSettings.Scheme] {
        settings.schemes.filter { unsupported[$0, default: 0] == 0 }
    }

    /// Returns the account named `name`. For an unknown name, returns another account with `isKnown` false,
    /// always the same one for the same name, so that checking an unknown name costs as much as checking an
    /// existing account. Returns nil only if the list is empty.
    func account(named name: [UInt8]) -> (account: Account, isKnown: Bool)? {
        if let text = String(validating: name, as: UTF8.self), let index = indexByName[text] {
            return (list[index], true)
        }
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

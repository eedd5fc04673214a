public import DavitServer

#if LDAP
internal import CLDAP
internal import DavitSystem
internal import Synchronization
#endif

/// Verifies passwords with a directory (LDAP version 3, RFC 4511): finds the entry of the user, and binds with its
/// distinguished name and the password.
///
/// ```swift
/// configuration.passwordVerifiers = [try LDAPDirectory(.init(url: "ldaps://ldap", base: "dc=example,dc=org"))]
/// ```
public final class LDAPDirectory: PasswordVerifier {
    private let settings: LDAPSettings
    public var service: String { settings.url }

    #if LDAP
    /// Maximum number of groups of a user.
    private static let groupLimit: Int32 = 1000
    /// Attributes that show that a user is disabled.
    private static let stateAttributes = ["userAccountControl", "pwdAccountLockedTime", "nsAccountLock"]
    /// The bit `ACCOUNTDISABLE` of `userAccountControl` in Active Directory.
    private static let disabledFlag = 2

    private let nameAttribute: String
    private let userFilter: LDAPTemplate
    private let userName: LDAPTemplate?
    private let groupFilter: LDAPTemplate?
    /// Calls of libldap block.
    private let pool = BlockingPool(threads: ExternalLogins.atATime)
    /// Connections for searches that no job uses.
    private let idle = Mutex<[LDAPConnection]>([])
    #endif

    /// - Throws: an error if the settings cannot be used. Does not connect.
    public init(_ settings: LDAPSettings) throws(LDAPSettings.Problem) {
        if let problem = settings.problem { throw problem }
        self.settings = settings
        #if LDAP
        // libldap writes to sockets that the directory may have closed.
        Signals.ignoreBrokenPipes()
        guard let nameAttribute = settings.nameAttribute else {
            throw .badTemplate(settings.userName ?? settings.userFilter)
        }
        self.nameAttribute = nameAttribute
        userFilter = LDAPTemplate(settings.userFilter, .filter, placeholders: ["user"])
        userName = settings.userName.map { LDAPTemplate($0, .name, placeholders: ["user"]) }
        groupFilter =
            settings.groupFilter.isEmpty
            ? nil : LDAPTemplate(settings.groupFilter, .filter, placeholders: ["dn", "user"])
        #else
        throw .notIncluded
        #endif
    }

    public func verify(name: String, password: String) async -> PasswordVerification {
        #if LDAP
        // RFC 4513 §5.1.2: without a password, a bind succeeds for every name.
        if password.isEmpty { return .wrong }
        let found = await pool.run(sendable: { [self] in
            do throws(LDAPError) {
                return try userName == nil
                    ? verifyBySearch(name, password) : verifyDirectly(name, password)
            } catch {
                // The user has more groups than can be read. Without all of them, the user could have more rights.
                if error.code == LDAP_SIZELIMIT_EXCEEDED { return .disabled }
                return .unavailable(reason: error.reason)
            }
        })
        return found ?? .unavailable(reason: "too many passwords are being verified")
        #else
        return .unavailable(reason: "this build does not include LDAP")
        #endif
    }

    #if LDAP
    private func verifyBySearch(_ name: String, _ password: String) throws(LDAPError) -> PasswordVerification
    {
        let filter = userFilter.filled(["user": name])
        let found: [LDAPEntry]
        do throws(LDAPError) {
            found = try withSearchConnection { (connection) throws(LDAPError) -> [LDAPEntry] in
                try connection.search(
                    settings.base, filter, attributes: [nameAttribute] + Self.stateAttributes, limit: 2)
            }
        } catch {
            // Several entries: none of them is that of the user.
            if error.code == LDAP_SIZELIMIT_EXCEEDED { return .wrong }
            throw error
        }
        guard found.count == 1, let entry = found.first, let user = userName(of: entry) else { return .wrong }
        // Without a name, every password would be right (RFC 4513 §5.1.1).
        guard !entry.name.isEmpty else { return .wrong }
        if Self.isDisabled(entry) { return .disabled }
        guard try Self.accepts(try LDAPConnection(settings), entry.name, password) else {
            // The password of a locked user may be right, and must work when the lock has ended.
            return entry.values["pwdAccountLockedTime"] == nil ? .wrong : .disabled
        }
        let groups = try withSearchConnection { (connection) throws(LDAPError) -> Set<String> in
            try self.groups(of: entry, user, connection)
        }
        return .right(name: user, groups: groups)
    }

    private func verifyDirectly(_ name: String, _ password: String) throws(LDAPError) -> PasswordVerification
    {
        guard let userName else { return .wrong }
        let connection = try LDAPConnection(settings)
        guard try Self.accepts(connection, userName.filled(["user": name]), password) else { return .wrong }
        // The directory may compare names without regard to case, but rules do not.
        let found = try connection.search(
            userName.filled(["user": name]), isSubtree: false, "(objectClass=*)",
            attributes: [nameAttribute] + Self.stateAttributes, limit: 1)
        guard let entry = found.first, let user = self.userName(of: entry) else {
            return .unavailable(reason: "users cannot read their own entries")
        }
        if Self.isDisabled(entry) { return .disabled }
        return .right(name: user, groups: try groups(of: entry, user, connection))
    }

    /// Returns whether a directory accepts a password.
    private static func accepts(
        _ connection: LDAPConnection, _ name: String, _ password: String
    ) throws(LDAPError) -> Bool {
        do throws(LDAPError) {
            try connection.bind(name, password: password)
            return true
        } catch {
            switch error.code {
            // Directories report users who are locked in different ways.
            case LDAP_INVALID_CREDENTIALS, LDAP_INAPPROPRIATE_AUTH, LDAP_NO_SUCH_OBJECT,
                LDAP_INVALID_DN_SYNTAX,
                LDAP_UNWILLING_TO_PERFORM, LDAP_CONSTRAINT_VIOLATION, LDAP_INSUFFICIENT_ACCESS:
                return false
            default: throw error
            }
        }
    }

    /// Returns the name of a user in the spelling of the directory. Of several values, it is always the same one.
    private func userName(of entry: LDAPEntry) -> String? { entry.values[nameAttribute]?.min() }

    private static func isDisabled(_ entry: LDAPEntry) -> Bool {
        if let flags = entry.values["userAccountControl"]?.first.flatMap({ Int($0) }),
            flags & disabledFlag != 0
        {
            return true
        }
        // Locked by an administrator. Other times are in the past once the lock has ended.
        if entry.values["pwdAccountLockedTime"]?.contains("000001010000Z") == true { return true }
        return entry.values["nsAccountLock"]?.contains { $0.lowercased() == "true" } ?? false
    }

    /// Returns the groups of a user.
    /// - Throws: an error if they cannot be determined. A missing group could also give more rights, because rules
    ///   can take rights from groups.
    private func groups(
        of entry: LDAPEntry, _ user: String, _ connection: LDAPConnection
    ) throws(LDAPError) -> Set<String> {
        guard let groupFilter else { return [] }
        let found = try connection.search(
            settings.base, groupFilter.filled(["dn": entry.name, "user": user]), attributes: ["cn"],
            limit: Self.groupLimit)
        return Set(found.compactMap { $0.values["cn"]?.min() })
    }

    /// Runs searches on a connection that is bound with the name and password of the settings.
    private func withSearchConnection<R>(
        _ body: (LDAPConnection) throws(LDAPError) -> R
    ) throws(LDAPError) -> R {
        let kept = idle.withLock { $0.popLast() }
        if let kept {
            do throws(LDAPError) { return try run(body, on: kept) } catch {
                // The directory may have closed the idle connection.
                guard error.isUnavailable else { throw error }
            }
        }
        let connection = try LDAPConnection(settings)
        if let name = settings.bindName { try connection.bind(name, password: settings.bindPassword) }
        return try run(body, on: connection)
    }

    private func run<R>(
        _ body: (LDAPConnection) throws(LDAPError) -> R, on connection: LDAPConnection
    ) throws(LDAPError) -> R {
        do throws(LDAPError) {
            let result = try body(connection)
            keep(connection)
            return result
        } catch {
            if !error.isUnavailable { keep(connection) }
            throw error
        }
    }

    private func keep(_ connection: LDAPConnection) {
        idle.withLock { idle in
            if idle.count < ExternalLogins.atATime { idle.append(connection) }
        }
    }

    deinit { pool.shutdown() }
    #endif
}

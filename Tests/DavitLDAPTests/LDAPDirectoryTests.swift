#if LDAP
import DavitCrypto
import DavitHTTP
import DavitLDAP
import DavitServer
import DavitSystem
import DavitTesting
import Testing

/// Passwords that a directory verifies: OpenLDAP's slapd, which each test starts.
@Suite(.enabled(if: Slapd.isInstalled), .timeLimit(.minutes(5)))
struct LDAPDirectoryTests {
    private let folder: TemporaryFolder
    private let slapd: Slapd

    init() throws {
        folder = try TemporaryFolder()
        let authority = try CertificateGenerator.makeAuthority(named: "test", now: Self.now)
        let server = try CertificateGenerator.makeLeaf(
            names: [], addresses: ["127.0.0.1"], authority: authority, now: Self.now)
        try Self.write(server.certificate.pem(), folder.path + "/server.pem")
        try Self.write(server.key.pem(), folder.path + "/server.key")
        try Self.write(authority.certificate.pem(), folder.path + "/ca.pem")
        slapd = try Slapd(folder)
    }

    private static func write(_ pem: [UInt8], _ path: String) throws {
        try SmallFiles.write(String(decoding: pem, as: UTF8.self), to: path)
    }

    private func directory(_ change: (inout LDAPSettings) -> Void = { _ in }) throws -> LDAPDirectory {
        var settings = LDAPSettings(url: "ldap://127.0.0.1:\(slapd.port)", base: "dc=example,dc=org")
        settings.bindName = "cn=davit,dc=example,dc=org"
        settings.bindPassword = "search"
        settings.authorities = folder.path + "/ca.pem"
        change(&settings)
        return try LDAPDirectory(settings)
    }

    private static let now = Timestamp(seconds: Clock.wallNow() / 1_000_000_000)
    private static let anna = PasswordVerification.right(name: "anna", groups: ["editors", "staff"])

    private func isUnavailable(_ found: PasswordVerification) -> Bool {
        if case .unavailable = found { true } else { false }
    }

    @Test func usersAreFoundAndBound() async throws {
        let directory = try directory()
        let table: [(String, String, PasswordVerification)] = [
            ("anna", "secret", Self.anna), ("anna", "wrong", .wrong), ("eve", "secret", .wrong),
            ("ben", "secret", .right(name: "ben", groups: ["editors"])),
            ("carl", "secret", .right(name: "carl", groups: [])),
            // The directory ignores case, and rules refer to its spelling.
            ("ANNA", "secret", Self.anna),
            // Names are values, not filters.
            ("*", "secret", .wrong), ("ann*", "secret", .wrong), ("anna)(objectClass=*", "secret", .wrong),
            ("*)(uid=anna", "secret", .wrong), ("anna,dc=example", "secret", .wrong), ("", "secret", .wrong),
            ("d*(x)", "secret", .right(name: "d*(x)", groups: ["staff"])),
            // RFC 4513 §5.1.2: a bind without a password succeeds.
            ("anna", "", .wrong),
        ]
        for (name, password, expected) in table {
            let found = await directory.verify(name: name, password: password)
            #expect(found == expected, "\(name) \(password): \(found)")
        }
    }

    @Test func distinguishedNamesCanBeGiven() async throws {
        let directory = try directory {
            ($0.bindName, $0.groupFilter) = (nil, "")
            $0.userName = "uid={user},dc=example,dc=org"
        }
        let table: [(String, String, PasswordVerification)] = [
            ("anna", "secret", .right(name: "anna", groups: [])), ("anna", "wrong", .wrong),
            ("eve", "x", .wrong),
            ("ANNA", "secret", .right(name: "anna", groups: [])), ("*", "secret", .wrong),
            ("d*(x)", "secret", .right(name: "d*(x)", groups: [])),
            ("anna,dc=example,dc=org", "secret", .wrong), ("x,uid=anna", "secret", .wrong),
            ("anna", "", .wrong),
        ]
        for (name, password, expected) in table {
            let found = await directory.verify(name: name, password: password)
            #expect(found == expected, "\(name) \(password): \(found)")
        }
    }

    @Test func otherFiltersCanBeGiven() async throws {
        let directory = try directory {
            $0.userFilter = "(&(objectClass=inetOrgPerson)(|(uid={user})(mail={user})))"
            $0.groupFilter = "(&(cn=ed*)(member={dn}))"
        }
        let anna = PasswordVerification.right(name: "anna", groups: ["editors"])
        #expect(await directory.verify(name: "anna@example.org", password: "secret") == anna)
        // The address of two users is that of neither.
        #expect(await directory.verify(name: "shared@example.org", password: "secret") == .wrong)
    }

    @Test func connectionsAreEncryptedWithTheRightCertificate() async throws {
        // An authority that has not issued the certificate.
        let other = try CertificateGenerator.makeAuthority(named: "other", now: Self.now)
        try Self.write(other.certificate.pem(), folder.path + "/other.pem")
        let untrusted = try directory { $0.authorities = folder.path + "/other.pem" }
        #expect(isUnavailable(await untrusted.verify(name: "anna", password: "secret")))
        let missing = try directory { $0.authorities = folder.path + "/missing.pem" }
        #expect(isUnavailable(await missing.verify(name: "anna", password: "secret")))
        // The certificate is for the address, not for the name.
        let misnamed = try directory { $0.url = "ldap://localhost:\(slapd.port)" }
        #expect(isUnavailable(await misnamed.verify(name: "anna", password: "secret")))
        let plain = try directory { ($0.isPlain, $0.authorities) = (true, nil) }
        #expect(await plain.verify(name: "anna", password: "secret") == Self.anna)
    }

    @Test func wrongSettingsAreOutages() async throws {
        let wrongPassword = try directory { $0.bindPassword = "wrong" }
        #expect(isUnavailable(await wrongPassword.verify(name: "anna", password: "secret")))
        let anonymous = try directory { $0.bindName = nil }
        // An anonymous search finds nothing here.
        #expect(await anonymous.verify(name: "anna", password: "secret") != Self.anna)
    }

    @Test func disabledUsersAreRefused() async throws {
        let directory = try directory()
        #expect(await directory.verify(name: "anna", password: "secret") == Self.anna)
        try slapd.modify(
            """
            dn: uid=anna,dc=example,dc=org
            changetype: modify
            add: pwdAccountLockedTime
            pwdAccountLockedTime: 000001010000Z

            """)
        #expect(await directory.verify(name: "anna", password: "secret") == .disabled)
        #expect(
            await directory.verify(name: "ben", password: "secret")
                == .right(name: "ben", groups: ["editors"]))
    }

    /// The connection for searches outlives a restart of the directory.
    @Test func directoriesCanRestart() async throws {
        let directory = try directory()
        #expect(await directory.verify(name: "anna", password: "secret") == Self.anna)
        slapd.stop()
        #expect(isUnavailable(await directory.verify(name: "anna", password: "secret")))
        try slapd.start()
        #expect(await directory.verify(name: "anna", password: "secret") == Self.anna)
    }
}
#endif

import Davit
import DavitCommand
import DavitLDAP
import DavitOIDC
import DavitPAM
import Testing

/// The options for users of other services.
struct IdentityArgumentsTests {
    static let ldap: [(line: [String], error: UsageError)] = [
        (["--ldap", "ldaps://a"], .incomplete(option: "--ldap", needs: "--ldap-base")),
        (["--ldap-base", "b"], .useless(option: "--ldap-base", without: "--ldap")),
        (["--ldap-plain"], .useless(option: "--ldap-plain", without: "--ldap")),
        (
            ["--ldap", "ldaps://a", "--ldap-base", "b", "--ldap-bind", "c"],
            .incomplete(option: "--ldap-bind", needs: "--ldap-password-file")
        ),
        (
            ["--ldap", "ldaps://a", "--ldap-base", "b", "--ldap-password-file", "f"],
            .useless(option: "--ldap-password-file", without: "--ldap-bind")
        ),
    ]

    @Test(arguments: ldap)
    func incompleteLDAPOptionsAreRefused(line: [String], error: UsageError) {
        let error =
            LDAPLibrary.isAvailable ? error : .traitNeeded(option: Self.first(of: line), trait: "LDAP")
        #expect(throws: error) { try Arguments.parse(["serve", "/srv"] + line) }
    }

    /// The option that the error names: `--ldap` if it is given.
    private static func first(of line: [String]) -> String { line[0] }

    @Test func ldapOptionsAreParsed() throws {
        guard LDAPLibrary.isAvailable else { return }
        var options = ServeOptions(folder: "/srv")
        var settings = LDAPSettings(url: "ldap://a", base: "dc=b")
        settings.bindName = "cn=c"
        settings.userFilter = "(mail={user})"
        settings.groupFilter = "(member={dn})"
        settings.authorities = "ca.pem"
        settings.isPlain = true
        options.ldap.settings = settings
        options.ldap.passwordFile = "p"
        let line = [
            "--ldap-plain", "--ldap-ca", "ca.pem", "--ldap-group-filter", "(member={dn})", "--ldap-filter",
            "(mail={user})", "--ldap-password-file=p", "--ldap-bind=cn=c", "--ldap-base=dc=b",
            "--ldap=ldap://a",
        ]
        #expect(try Arguments.parse(["serve", "/srv"] + line) == .serve(options))
    }

    /// An empty filter turns off the search for groups; a missing value is a mistake.
    @Test func groupFilterCanBeEmpty() throws {
        #expect(throws: UsageError.missingValue(option: "--ldap-group-filter")) {
            try Arguments.parse(["serve", "/srv", "--ldap-group-filter"])
        }
        guard LDAPLibrary.isAvailable else { return }
        let line = ["--ldap", "ldaps://a", "--ldap-base", "dc=b"]
        for filter in [["--ldap-group-filter", ""], ["--ldap-group-filter="]] {
            guard case .serve(let options) = try Arguments.parse(["serve", "/srv"] + line + filter) else {
                Issue.record("not 'davit serve'")
                return
            }
            #expect(options.ldap.settings?.groupFilter == "")
        }
        #if YAML
        let start = "folder: /srv\nldap: ldaps://a\nldap-base: dc=b\nldap-group-filter:"
        #expect(try ConfigurationFolder(start + " \"\"\n").options().ldap.settings?.groupFilter == "")
        let error = #expect(throws: CommandFailure.self) {
            try ConfigurationFolder(start + "\n").options()
        }
        #expect(error?.message.contains("ldap-group-filter: expected a text, found nothing") == true)
        #endif
    }

    static let oidc: [(line: [String], error: UsageError)] = [
        (["--oidc-issuer", "https://a"], .incomplete(option: "--oidc-issuer", needs: "--oidc-client-id")),
        (["--oidc-client-id", "b"], .useless(option: "--oidc-client-id", without: "--oidc-issuer")),
        (["--oidc-name", "b"], .useless(option: "--oidc-name", without: "--oidc-issuer")),
        (
            ["--oidc-issuer", "https://a", "--oidc-client-id", "b"],
            .incomplete(option: "--oidc-issuer", needs: "--public-url")
        ),
        (
            [
                "--oidc-issuer", "https://a", "--oidc-client-id", "b", "--public-url", "https://c",
                "--no-page",
            ],
            .conflict(option: "--oidc-issuer", other: "--no-page")
        ),
        (
            ["--oidc-issuer", "http://a", "--oidc-client-id", "b", "--public-url", "https://c"],
            .badOIDC("the issuer 'http://a' is not an https URL, or has a query")
        ),
        (
            ["--oidc-issuer", "https://a", "--oidc-client-id", "é", "--public-url", "https://c"],
            .badOIDC("the client ID and secret must be 1 to 1024 characters of printable ASCII")
        ),
    ]

    @Test(arguments: oidc)
    func incompleteOIDCOptionsAreRefused(line: [String], error: UsageError) {
        let error =
            OIDCLibrary.isAvailable ? error : .traitNeeded(option: Self.first(of: line), trait: "OIDC")
        #expect(throws: error) { try Arguments.parse(["serve", "/srv"] + line) }
    }

    @Test func oidcOptionsAreParsed() throws {
        guard OIDCLibrary.isAvailable else { return }
        var options = ServeOptions(folder: "/srv")
        var settings = OIDCSettings(issuer: "https://a/b", clientID: "c")
        settings.name = "N"
        settings.userClaim = "sub"
        settings.groupsClaim = "roles"
        settings.scopes = "profile groups"
        settings.authorities = "ca.pem"
        options.oidc.settings = settings
        options.oidc.secretFile = "s"
        options.publicURLs = [PublicURL(isSecure: true, host: "f")]
        let line = [
            "--oidc-ca", "ca.pem", "--oidc-scopes", "profile groups", "--oidc-groups-claim=roles",
            "--oidc-user-claim=sub", "--oidc-name=N", "--oidc-client-secret-file", "s", "--oidc-client-id=c",
            "--oidc-issuer=https://a/b", "--public-url", "https://f",
        ]
        #expect(try Arguments.parse(["serve", "/srv"] + line) == .serve(options))
    }

    @Test func pamOptionsAreParsed() throws {
        guard PAMLibrary.isAvailable else {
            let error = UsageError.traitNeeded(option: "--pam", trait: "PAM")
            #expect(throws: error) { try Arguments.parse(["serve", "/srv", "--pam", "davit"]) }
            return
        }
        var options = ServeOptions(folder: "/srv")
        options.pam.service = "davit"
        options.pam.helper = "/h"
        #expect(
            try Arguments.parse(["serve", "/srv", "--pam", "davit", "--pam-helper", "/h"]) == .serve(options))
        #expect(throws: UsageError.useless(option: "--pam-helper", without: "--pam")) {
            try Arguments.parse(["serve", "/srv", "--pam-helper", "/h"])
        }
    }
}

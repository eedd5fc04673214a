import DavitLDAP
import DavitTesting
import Testing

/// The texts that are sent to a directory.
struct LDAPTemplateTests {
    static let table: [(value: String, filter: String, name: String)] = [
        ("anna", "anna", "anna"), ("a.b-c_d@e", "a.b-c_d@e", "a.b-c_d@e"),
        // RFC 4515 §3 and §4.
        ("*", "\\2a", "\\2a"), ("*)(uid=*", "\\2a\\29\\28uid=\\2a", "\\2a\\29\\28uid\\3d\\2a"),
        ("Parens R Us (for all)", "Parens R Us \\28for all\\29", "Parens\\20R\\20Us\\20\\28for\\20all\\29"),
        ("C:\\MyFile", "C\\3a\\5cMyFile", "C\\3a\\5cMyFile"),
        ("\u{0}\u{0}\u{0}\u{4}", "\\00\\00\\00\\04", "\\00\\00\\00\\04"),
        ("Lučić", "Lu\\c4\\8di\\c4\\87", "Lu\\c4\\8di\\c4\\87"),
        // RFC 4514 §2.4.
        ("a,dc=evil", "a,dc=evil", "a\\2cdc\\3devil"), ("#x", "\\23x", "\\23x"), (" x ", " x ", "\\20x\\20"),
        ("a+b\"c;d<e>f", "a\\2bb\\22c\\3bd\\3ce\\3ef", "a\\2bb\\22c\\3bd\\3ce\\3ef"),
    ]

    @Test(arguments: table)
    func valuesAreEscaped(value: String, filter: String, name: String) {
        #expect(LDAPTemplate.escape(value, .filter) == filter)
        #expect(LDAPTemplate.escape(value, .name) == name)
    }

    /// Whatever the value, the filter keeps its parentheses, and the name its commas and signs.
    @Test func valuesCannotChangeTheStructure() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                "()*\\&|!=,+\u{0} aé{}".unicodeScalars.map(Character.init).randomElement(using: &generator)
                    ?? "a"
            }
            let value = String(bytes)
            let filter = LDAPTemplate("(&(uid={user})(dn={dn}))", .filter, placeholders: ["user", "dn"])
                .filled(["user": value, "dn": value])
            #expect(filter.count { $0 == "(" } == 3 && filter.count { $0 == ")" } == 3)
            #expect(!filter.contains("*") && !filter.utf8.contains(0))
            let name = LDAPTemplate("uid={user},dc=a", .name, placeholders: ["user"]).filled(["user": value])
            #expect(name.count { $0 == "," } == 1 && name.count { $0 == "=" } == 2 && !name.contains("+"))
        }
    }

    @Test func valuesAreNotSearchedForPlaceholders() {
        let template = LDAPTemplate("({user}={dn}){other}{", .filter, placeholders: ["user", "dn"])
        #expect(template.filled(["user": "{dn}", "dn": "{user}"]) == "(\\7bdn\\7d=\\7buser\\7d){other}{")
    }

    static let settings: [(change: @Sendable (inout LDAPSettings) -> Void, problem: LDAPSettings.Problem?)] =
        [
            ({ _ in }, nil), ({ $0.url = "ldap://a ldap://b:3890" }, nil),
            ({ $0.url = "ldapi://%2Frun%2Fldapi" }, nil),
            ({ $0.url = "" }, .badURL("")), ({ $0.url = "ldap://" }, .badURL("ldap://")),
            ({ $0.url = "http://a" }, .badURL("http://a")),
            ({ $0.url = "ldaps://a/dc=b?uid" }, .badURL("ldaps://a/dc=b?uid")),
            ({ $0.userFilter = "(&(objectClass=person)(|(sAMAccountName={user})(mail={user})))" }, nil),
            ({ $0.userFilter = "(uid=anna)" }, .badTemplate("(uid=anna)")),
            ({ $0.userFilter = "(uid={user}" }, .badTemplate("(uid={user}")),
            ({ $0.userFilter = "uid={user}" }, .badTemplate("uid={user}")),
            ({ $0.userFilter = "(=*{user})" }, .badTemplate("(=*{user})")),
            ({ $0.groupFilter = "" }, nil),
            ({ $0.groupFilter = "(member={dn}))(" }, .badTemplate("(member={dn}))(")),
            ({ $0.userName = "uid={user},dc=a" }, nil),
            ({ $0.userName = "uid=anna" }, .badTemplate("uid=anna")),
        ]

    @Test(arguments: settings)
    func settingsAreChecked(
        change: @Sendable (inout LDAPSettings) -> Void, problem: LDAPSettings.Problem?
    ) {
        var settings = LDAPSettings(url: "ldaps://a", base: "dc=a")
        change(&settings)
        #expect(settings.problem == problem)
    }

    @Test func theNameIsInTheFirstComparedAttribute() {
        var settings = LDAPSettings(url: "ldaps://a", base: "dc=a")
        #expect(settings.nameAttribute == "uid")
        settings.userFilter = "(&(objectClass=person)(|(sAMAccountName={user})(mail={user})))"
        #expect(settings.nameAttribute == "sAMAccountName")
        settings.userName = "cn={user},dc=a"
        #expect(settings.nameAttribute == "cn")
    }

    /// libldap chooses one of the URLs, so all must be encrypted in the same way.
    @Test(
        arguments: [
            ("ldaps://a ldaps://b", nil), ("ldap://a ldaps://b", "ldaps://b"),
            ("ldaps://a ldap://b", "ldap://b"), ("ldapi://%2Frun%2Fldapi ldap://b", "ldap://b"),
            ("ldap://a ldapi://%2Frun%2Fldapi", "ldapi://%2Frun%2Fldapi"),
        ] as [(String, String?)])
    func addressesHaveOneScheme(url: String, bad: String?) {
        let settings = LDAPSettings(url: url, base: "dc=a")
        #expect(settings.problem == bad.map { .badURL($0) })
    }
}

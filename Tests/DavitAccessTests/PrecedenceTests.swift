import DavitAccess
import DavitHTTP
import Testing

/// Rules whose precedence has surprised the users of other servers, according to their issues. The result never depends on
/// the order of rules (sigoden/dufs#676, #689, #521, hacdias/webdav#269).
struct PrecedenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// Subject, folder and rights, as in `davit access set`.
        let rules: [(String, String, String)]
        /// The rights of anna, who is in the groups `team` and `guests`.
        let rights: [(path: String, expected: String)]
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "dufs#689: the deeper folder applies, with fewer rights or with more",
            rules: [
                ("user:anna", "/a", "edit"), ("user:anna", "/a/b", "view"), ("user:anna", "/c", "view"),
                ("user:anna", "/c/d", "edit"),
            ], rights: [("/a/x", "edit"), ("/a/b/x", "view"), ("/c/x", "view"), ("/c/d/x", "edit")]),
        Case(
            name: "dufs#521: more rights above do not replace fewer below",
            rules: [("user:anna", "/", "edit"), ("user:anna", "/a", "view")],
            rights: [("/x", "edit"), ("/a/x", "view")]),
        Case(
            name: "dufs#676: what anonymous clients may do does not concern those that have signed in",
            rules: [
                ("user:anna", "/", "edit"), ("anonymous", "/a", "view"), ("anonymous", "/", "none"),
            ], rights: [("/a/x", "edit"), ("/x", "edit")]),
        Case(
            name: "hacdias/webdav#269: a rule for a folder concerns neither its siblings nor longer names",
            rules: [("user:anna", "/a", "edit"), ("user:anna", "/", "view")],
            rights: [("/a", "edit"), ("/ab", "view"), ("/b", "view"), ("/", "view")]),
        Case(
            name: "groupfolders#2934: of several groups in one folder, the rights add up",
            rules: [("group:team", "/a", "edit"), ("group:guests", "/a", "none")],
            rights: [("/a/x", "edit")]),
        Case(
            name: "groupfolders#2934: a user before groups in one folder, with more rights or with fewer",
            rules: [
                ("group:team", "/a", "none"), ("user:anna", "/a", "edit"), ("group:team", "/b", "edit"),
                ("user:anna", "/b", "none"),
            ], rights: [("/a/x", "edit"), ("/b/x", "none")]),
        Case(
            name: "groupfolders#2812: a deeper rule for a group before one for the user above it",
            rules: [
                ("user:anna", "/a", "edit"), ("group:team", "/a/b", "view"),
                ("group:guests", "/a/b/c", "none"),
                ("group:team", "/a/b/d", "edit"),
            ], rights: [("/a/x", "edit"), ("/a/b/x", "view"), ("/a/b/c/x", "none"), ("/a/b/d/x", "edit")]),
    ]

    @Test(arguments: cases) func orderIsIrrelevant(test: Case) throws {
        let rules = try test.rules.map { subject, path, rights in
            AccessRule(
                try #require(AccessRule.Subject(parsing: subject)), AccessOracle.path(path),
                try #require(Rights(parsing: rights)))
        }
        for order in Self.permutations(of: rules) {
            let policy = try AccessRules(order, groups: ["team": ["anna"], "guests": ["anna", "ben"]])
            let view = policy.view(of: Principal(.account, "anna"))
            for (path, expected) in test.rights {
                #expect(view.rights(at: AccessOracle.path(path)).description == expected, "\(path) \(order)")
            }
        }
    }

    private static func permutations(of rules: [AccessRule]) -> [[AccessRule]] {
        guard let first = rules.first else { return [[]] }
        return permutations(of: Array(rules.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }
}

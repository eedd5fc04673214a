import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitTesting
import Testing

/// Rules, accounts and app passwords without effect are found.
@Suite
struct AccessReviewTests {
    private static let paths = ["", "a", "a/b", "a/b/c", "d"].map {
        ResourcePath(segments: $0.split(separator: "/").map(\.utf8))!
    }
    private static let names = ["anna", "ben", "eve"]

    private static func contents(_ random: inout SeededGenerator) -> AccountContents {
        var contents = AccountContents()
        contents.accounts = names.map { StoredAccount(name: $0, secret: "$") }
        for group in ["g", "h"] {
            contents.groups[group] = Set(names.filter { _ in Bool.random(using: &random) })
        }
        let subjects: [AccessRule.Subject] =
            names.map { .user($0) } + [.group("g"), .group("h"), .everyone, .anonymous]
        for path in paths {
            for subject in subjects where Int.random(in: 0..<4, using: &random) == 0 {
                let rights = [Rights.none, .view, .edit].randomElement(using: &random)!
                contents.rules.append(AccessRule(subject, path, rights))
            }
        }
        return contents
    }

    /// A rule has no effect if and only if it grants rights, and no client's rights change anywhere when it is removed, as the
    /// policy decides, whatever groups the client is a member of.
    @Test(arguments: 1...(TestExtent.isComplete ? 2_000 : 100), [nil, paths[1]])
    func findingsAgreeWithThePolicy(seed: Int, homes: ResourcePath?) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let contents = Self.contents(&random)
        // In addition to the accounts, one that no rule names, and the owner of the home folder a/b.
        let memberships: [Set<String>] = [[], ["g"], ["h"], ["g", "h"]]
        let clients = (Self.names + ["new", "b"]).flatMap { name in
            memberships.map { Principal(.account, name, groups: $0) }
        }
        let paths =
            Self.paths + (homes.map { homes in Self.names.map { homes.appending(Array($0.utf8))! } } ?? [])
        func rights(_ rules: [AccessRule], _ clients: [Principal], _ groups: [String: Set<String>]) throws
            -> [[Rights]]
        {
            let policy = try AccessRules(rules, groups: groups, homes: homes)
            return clients.map { client in
                let view = policy.view(of: client)
                return paths.map { view.rights(at: $0) }
            }
        }
        let empty = contents.groups.mapValues { _ in Set<String>() }
        let all = try rights(contents.rules, clients + [.anonymous], empty)
        var expected: Set<AccessReview.Finding> = []
        for (index, rule) in contents.rules.enumerated() {
            if case .group(let name) = rule.subject, contents.groups[name]!.isEmpty {
                expected.insert(.withoutMembers(rule))
                continue
            }
            var others = contents.rules
            others.remove(at: index)
            if !rule.rights.isEmpty, try rights(others, clients + [.anonymous], empty) == all {
                expected.insert(.withoutEffect(rule))
            }
        }
        let present = try rights(contents.rules, Self.names.map { Principal(.account, $0) }, contents.groups)
        for (name, rights) in zip(Self.names, present) where rights.allSatisfy(\.isEmpty) {
            expected.insert(.withoutRights(account: name))
        }
        #expect(Set(AccessReview(contents, homes: homes).findings(at: 0)) == expected)
    }

    /// Returns a rule from `WHO PATH RIGHTS`.
    private static func rule(_ text: String) throws -> AccessRule {
        let words = text.split(separator: " ").map(String.init)
        let path = ResourcePath(segments: words[1].split(separator: "/").map(\.utf8))
        return AccessRule(
            try #require(AccessRule.Subject(parsing: words[0])), try #require(path),
            try #require(Rights(parsing: words[2])))
    }

    /// Rules that change nothing for the present members, and those of them that the review reports.
    private static let cases: [(rules: [String], homes: String?, found: [String])] = [
        // The recipe for a private folder; ben may join the group.
        (
            ["group:team /project edit", "group:team /project/pay none", "user:anna /project/pay edit"], nil,
            []
        ),
        (["user:anna / all", "user:anna /home all"], "home", []),
        (["user:anna / edit", "user:anna /home/ben edit"], "home", []),
        (["user:anna / all", "user:anna /home all"], nil, ["user:anna /home all"]),
        (["everyone / none"], nil, []),
        // It replaces the rule of home folders that denies everyone else.
        (["everyone / view", "everyone /home view"], "home", []),
        (
            ["user:anna /home/anna list,read,create,change,delete,share"], "home",
            [
                "user:anna /home/anna list,read,create,change,delete,share"
            ]
        ),
        (["everyone / view", "group:team /a view"], nil, ["group:team /a view"]),
        (["everyone / view", "user:ben / edit", "group:team /a view"], nil, []),
        (["everyone / view", "anonymous /a view"], nil, []),
    ]

    @Test(arguments: cases.indices) func onlyRedundantRulesAreFound(index: Int) throws {
        let (rules, homes, found) = Self.cases[index]
        var contents = AccountContents()
        contents.accounts = [StoredAccount(name: "anna", secret: "$")]
        contents.groups = ["team": ["anna"]]
        contents.rules = try rules.map(Self.rule)
        let review = AccessReview(contents, homes: homes.flatMap { ResourcePath(segments: [$0.utf8]) })
        let findings = review.findings(at: 0).filter { $0 != .withoutRights(account: "anna") }
        #expect(findings == (try found.map { .withoutEffect(try Self.rule($0)) }))
    }

    /// Every account has rights in its home folder, unless a rule takes them away.
    @Test func homeFoldersGrantRights() throws {
        let homes = try #require(ResourcePath(segments: ["home".utf8]))
        let home = try #require(homes.appending(Array("anna".utf8)))
        var contents = AccountContents()
        contents.accounts = [StoredAccount(name: "anna", secret: "$")]
        contents.appPasswords = [
            "anna": [
                StoredAppPassword(
                    id: "p", account: "anna", label: "phone", secret: "$",
                    limit: AccessLimit(path: home, rights: .view), created: 0, expiry: nil)
            ]
        ]
        #expect(AccessReview(contents, homes: homes).findings(at: 0).isEmpty)
        #expect(AccessReview(contents).findings(at: 0).count == 2)
        contents.rules = [AccessRule(.user("anna"), home, .none)]
        #expect(AccessReview(contents, homes: homes).findings(at: 0).count == 2)
    }

    @Test(arguments: 1...(TestExtent.isComplete ? 2_000 : 150)) func limitsAgreeWithThePolicy(seed: Int)
        throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        var contents = Self.contents(&random)
        let rights = [Rights.none, .view, .drop, .delete].randomElement(using: &random)!
        let limit = AccessLimit(path: Self.paths.randomElement(using: &random)!, rights: rights)
        let password = StoredAppPassword(
            id: "p", account: "anna", label: "phone", secret: "$", limit: limit, created: 0, expiry: 100)
        contents.appPasswords = ["anna": [password]]
        let policy = try AccessRules(contents.rules, groups: contents.groups)
        let view = policy.view(of: Principal(.appPassword, "anna", limit: limit))
        let isPowerless = Self.paths.allSatisfy { view.rights(at: $0).isEmpty }
        let findings = AccessReview(contents).findings(at: 99)
        #expect(findings.contains(.powerless(password)) == isPowerless)
        #expect(!findings.contains(.expired(password)))
        #expect(AccessReview(contents).findings(at: 100).contains(.expired(password)))
    }
}

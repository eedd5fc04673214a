import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitTesting
import Testing

/// Rules, accounts and app passwords without effect are found.
@Suite struct AccessReviewTests {
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

    /// A rule has no effect if and only if no client's rights change anywhere when it is removed, as the policy decides.
    @Test(arguments: 1...(TestExtent.isComplete ? 2_000 : 150)) func findingsAgreeWithThePolicy(seed: Int)
        throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        let contents = Self.contents(&random)
        let principals = Self.names.map { Principal(.account, $0) } + [.anonymous]
        func rights(_ rules: [AccessRule]) throws -> [[Rights]] {
            let policy = try AccessRules(rules, groups: contents.groups)
            return principals.map { principal in
                Self.paths.map { policy.view(of: principal).rights(at: $0) }
            }
        }
        let all = try rights(contents.rules)
        var expected: Set<AccessReview.Finding> = []
        for (index, rule) in contents.rules.enumerated() {
            if case .group(let name) = rule.subject, contents.groups[name]!.isEmpty {
                expected.insert(.withoutMembers(rule))
                continue
            }
            var others = contents.rules
            others.remove(at: index)
            if try rights(others) == all { expected.insert(.withoutEffect(rule)) }
        }
        for (name, rights) in zip(Self.names, all) where rights.allSatisfy(\.isEmpty) {
            expected.insert(.withoutRights(account: name))
        }
        #expect(Set(AccessReview(contents).findings(at: 0)) == expected)
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

import DavitAccess
import DavitHTTP
import DavitTesting
import Testing

@Suite struct AccessRulesTests {
    private func path(_ text: String) -> ResourcePath { AccessOracle.path(text) }

    @Test(arguments: 0..<TestExtent.size(600, sampled: 24))
    func agreesWithTheOracle(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let oracle = AccessOracle.random(&random)
        let policy = try AccessRules(oracle.rules, groups: oracle.members)
        for _ in 0..<4 {
            let principal = oracle.principal(&random)
            let view = policy.view(of: principal)
            for text in AccessOracle.paths {
                let path = path(text)
                let expected = oracle.rights(of: principal, at: text)
                #expect(view.rights(at: path) == expected, "\(principal) \(text) \(oracle.rules)")
                #expect(
                    view.rightsThroughout(path) == oracle.rightsThroughout(text, principal),
                    "throughout \(principal) \(text) \(oracle.rules)")
                let leads = oracle.leadsToRights(text, principal)
                // Rights that are inherited from the collection itself need no passage.
                #expect(
                    view.leadsToRights(path) == leads || !expected.isEmpty,
                    "leads \(principal) \(text) \(oracle.rules)")
                #expect(view.visibility(at: path) == visibility(expected, leads || path.isRoot))
                if let parent = path.parent {
                    let members = view.members(of: parent)
                    #expect(members.rights(to: Array(path.name)) == expected)
                    let name = Array(path.name)
                    #expect(
                        (members.visibility(of: name, isCollection: false) == .listed)
                            == expected.contains(.list))
                    let isInherited = members.uniformRights != nil || expected == view.rights(at: parent)
                    if !isInherited || view.leadsToRights(path) {
                        #expect(
                            members.visibility(of: name, isCollection: true) == view.visibility(at: path),
                            "lists \(principal) \(text) \(oracle.rules)")
                    }
                    if let uniform = members.uniformRights { #expect(uniform == expected) }
                }
                explains(policy, principal, text, expected)
            }
        }
    }

    /// The rules in an explanation grant the rights, up to the limit of the principal.
    private func explains(
        _ policy: AccessRules, _ principal: Principal, _ text: String, _ expected: Rights
    ) {
        let rules = policy.explain(principal, at: path(text))
        let granted = rules.reduce(Rights.none) { $0.union($1.rights) }
        let limit =
            principal.limit.map {
                $0.path.equivalenceKey.contains(path(text).equivalenceKey) ? $0.rights : .none
            } ?? .all
        #expect(granted.intersection(limit) == expected, "explain \(principal) \(text)")
    }

    private func visibility(_ rights: Rights, _ leadsToRights: Bool) -> Visibility {
        if rights.contains(.list) { return .listed }
        return rights.isEmpty && !leadsToRights ? .hidden : .passage
    }

    /// Home folders are rules that others for the same subject and folder replace.
    @Test(arguments: 0..<TestExtent.size(200, sampled: 12))
    func homeFoldersAgreeWithTheOracle(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let given = AccessOracle.random(&random)
        // The names of members of `/a` are those of the oracle, so accounts need the same ones.
        let homes = path(["/a", "/a/Müll"].randomElement(using: &random)!)
        let policy = try AccessRules(given.rules, groups: given.members, homes: homes)
        for name in ["a", "b", "Mu\u{308}ll"] {
            var oracle = given
            for group in AccessOracle.groups { oracle.members[group]?.remove(name) }
            let home = try #require(homes.appending(Array(name.utf8)))
            for rule in [
                AccessRule(.everyone, homes, .none), AccessRule(.user(name), home, [.edit, .share]),
            ]
            where !oracle.rules.contains(where: {
                $0.subject == rule.subject && $0.path.equivalenceKey == rule.path.equivalenceKey
            }) {
                oracle.rules.append(rule)
            }
            let principal = Principal(.account, name)
            for text in AccessOracle.paths {
                let expected = oracle.rights(of: principal, at: text)
                #expect(policy.view(of: principal).rights(at: path(text)) == expected, "\(name) \(text)")
                explains(policy, principal, text, expected)
            }
            #expect(policy.isPlace(home))
            #expect(try !policy.isPlace(#require(home.appending(Array("x y z".utf8)))))
        }
    }

    @Test func theDeepestFolderApplies() throws {
        let policy = try AccessRules([
            AccessRule(.everyone, path("/"), .view), AccessRule(.user("anna"), path("/a"), .edit),
            AccessRule(.everyone, path("/a/private"), .none),
        ])
        let anna = policy.view(of: Principal(.account, "anna"))
        #expect(anna.rights(at: path("/x")) == .view)
        #expect(anna.rights(at: path("/a/x/y")) == .edit)
        // A rule for everyone in a deeper folder applies before one for the user above.
        #expect(anna.rights(at: path("/a/private/x")) == .none)
        #expect(anna.rightsThroughout(path("/a")) == .none)
        #expect(anna.rightsThroughout(path("/a/x")) == .edit)
    }

    /// The view of an application may answer only for single paths.
    private struct PathView: AccessView {
        let rules: any AccessView

        func rights(at path: ResourcePath) -> Rights { rules.rights(at: path) }
        func leadsToRights(_ path: ResourcePath) -> Bool { rules.leadsToRights(path) }
        func rightsThroughout(_ path: ResourcePath) -> Rights { rules.rightsThroughout(path) }
    }

    /// Members are listed alike, whether a view answers for all of them or for each.
    @Test func membersOfOtherViewsAreListedAlike() throws {
        let rules = try AccessRules([
            AccessRule(.everyone, path("/in"), .drop), AccessRule(.everyone, path("/way/deep"), .view),
            AccessRule(.everyone, path("/docs"), .view),
        ]).view(of: Principal(.account, "anna"))
        for name in ["in", "way", "docs", "other"] {
            for isCollection in [false, true] {
                let bytes = Array(name.utf8)
                #expect(
                    PathView(rules: rules).members(of: .root).visibility(
                        of: bytes, isCollection: isCollection)
                        == rules.members(of: .root).visibility(of: bytes, isCollection: isCollection),
                    "\(name)")
            }
        }
    }

    @Test func segmentsAreComparedAsAWhole() throws {
        let policy = try AccessRules([AccessRule(.everyone, path("/team"), .edit)])
        let view = policy.view(of: Principal(.account, "anna"))
        #expect(view.rights(at: path("/teams")) == .none)
        #expect(view.rights(at: path("/team/x")) == .edit)
        #expect(view.visibility(at: path("/")) == .passage)
        #expect(view.visibility(at: path("/teams")) == .hidden)
    }

    @Test func everyoneDoesNotIncludeAnonymousClients() throws {
        let policy = try AccessRules([
            AccessRule(.everyone, path("/"), .edit), AccessRule(.anonymous, path("/pub"), .view),
        ])
        let view = policy.view(of: .anonymous)
        #expect(view.rights(at: path("/")) == .none)
        #expect(view.rights(at: path("/pub/x")) == .view)
        #expect(policy.view(of: Principal(.account, "anna")).rights(at: path("/pub/x")) == .edit)
    }

    @Test func decisionsHideWhatCannotBeListed() throws {
        let policy = try AccessRules([
            AccessRule(.everyone, path("/in"), .drop), AccessRule(.everyone, path("/docs"), .view),
        ])
        let anna = Principal(.account, "anna")
        #expect(policy.decide(anna, .create, at: path("/in/x")) == .allow)
        #expect(policy.decide(anna, .read, at: path("/in/x")) == .hide)
        #expect(policy.decide(anna, .change, at: path("/docs/x")) == .forbid)
        #expect(policy.decide(anna, .read, at: path("/other")) == .hide)
    }

    @Test func refusesRulesThatMeanNothing() {
        let rule = AccessRule(.everyone, path("/M\u{FC}ll"), .view)
        let same = AccessRule(.everyone, path("/Mu\u{308}ll"), .edit)
        #expect(throws: AccessRules.Problem.duplicate(same)) { try AccessRules([rule, same]) }
        let group = AccessRule(.group("team"), path("/"), .view)
        #expect(throws: AccessRules.Problem.unknownGroup(group)) { try AccessRules([group]) }
    }

    @Test func foldersWithRulesArePlaces() throws {
        let policy = try AccessRules([AccessRule(.user("ben"), path("/a/b"), .view)])
        #expect(policy.isPlace(path("/a/b")))
        #expect(policy.isPlace(path("/a")))
        #expect(policy.isPlace(path("/")))
        #expect(!policy.isPlace(path("/a/b/c")))
        #expect(!policy.isPlace(path("/c")))
    }

    /// The views in memory stay bounded, and views that were discarded are built again.
    @Test func manyPrincipalsGetTheirOwnRights() throws {
        let rules = (0..<3_000).map { AccessRule(.user("u\($0)"), path("/home/u\($0)"), .edit) }
        let policy = try AccessRules(rules)
        for _ in 0..<2 {
            for number in 0..<3_000 {
                let view = policy.view(of: Principal(.account, "u\(number)"))
                #expect(view.rights(at: path("/home/u\(number)/x")) == .edit)
                #expect(view.rights(at: path("/home/u\((number + 1) % 3_000)/x")) == .none)
            }
        }
    }

    /// Rules of great depth need no stack, and memory that is linear in their depth.
    @Test func deepRules() throws {
        let deep = path(String(repeating: "/a", count: 20_000))
        let policy = try AccessRules([AccessRule(.everyone, deep, .view)])
        let view = policy.view(of: Principal(.account, "anna"))
        #expect(view.rights(at: deep) == .view)
        #expect(view.visibility(at: deep.parent!) == .passage)
        #expect(policy.isPlace(deep.parent!))
    }
}

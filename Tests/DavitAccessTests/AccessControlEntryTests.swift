import DavitAccess
import DavitHTTP
import DavitTesting
import Testing

struct AccessControlEntryTests {
    /// Evaluates a list as RFC 3744 §6 specifies: in order, until a right is granted or denied.
    private func rights(
        of principal: Principal, in groups: [String: Set<String>], by entries: [AccessControlEntry]
    ) -> Rights {
        var (granted, denied) = (Rights.none, Rights.none)
        for entry in entries {
            let isConcerned =
                switch entry.subject {
                case .anonymous: principal.kind == .anonymous
                case .everyone: principal.kind != .anonymous
                case .user(let name): principal.name == name
                case .group(let name):
                    principal.groups.contains(name)
                        || principal.name.map { groups[name]?.contains($0) == true } == true
                }
            guard isConcerned else { continue }
            switch entry.effect {
            case .grant(let rights): granted.formUnion(rights.subtracting(denied))
            case .deny: denied.formUnion(Rights.all.subtracting(granted))
            }
        }
        return granted
    }

    @Test(arguments: 0..<TestExtent.size(300, sampled: 20))
    func entriesExpressTheRules(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let oracle = AccessOracle.random(&random)
        let policy = try AccessRules(oracle.rules, groups: oracle.members)
        let principals =
            AccessOracle.users.map { Principal(.account, $0) }
            + [.anonymous, Principal(.certificate, "anna", groups: ["guests"])]
        for text in AccessOracle.paths {
            let path = AccessOracle.path(text)
            let entries = policy.entries(at: path)
            for principal in principals {
                #expect(
                    rights(of: principal, in: oracle.members, by: entries)
                        == policy.view(of: principal).rights(at: path),
                    "\(principal) \(text) \(oracle.rules)")
            }
        }
    }

    // MARK: Fingerprints

    private func view(_ rules: [AccessRule], _ principal: Principal = Principal(.account, "anna")) throws
        -> any AccessView
    { try AccessRules(rules, groups: ["team": ["anna"]]).view(of: principal) }

    private func path(_ text: String) -> ResourcePath { AccessOracle.path(text) }

    /// The fingerprint depends on effective rights only, not on the order of rules or on the way in which they are expressed.
    @Test func fingerprintIsThatOfTheRights() throws {
        let rules = [
            AccessRule(.user("anna"), path("/a"), .edit), AccessRule(.user("anna"), path("/b/Müll"), .view),
            AccessRule(.user("ben"), path("/c"), .edit),
        ]
        let fingerprint = try view(rules).fingerprint
        #expect(try view(rules.reversed()).fingerprint == fingerprint)
        let same = [
            AccessRule(.group("team"), path("/a"), .edit),
            AccessRule(.everyone, path("/b/Müll"), .view),
            AccessRule(.user("anna"), path("/a/deeper"), .edit), AccessRule(.user("ben"), path("/a"), .none),
        ]
        #expect(try view(same).fingerprint == fingerprint)
        // It is the same in each process, unlike the hash values of the standard library.
        #expect(fingerprint == 17_853_724_540_335_670_179)
    }

    @Test func otherRightsHaveOtherFingerprints() throws {
        let rule = AccessRule(.user("anna"), path("/a"), .edit)
        var fingerprints: Set<UInt64> = []
        for rules in [
            [], [rule], [AccessRule(.user("anna"), path("/a"), .view)],
            [AccessRule(.user("anna"), path("/b"), .edit)], [AccessRule(.user("anna"), path("/a/b"), .edit)],
            [AccessRule(.user("anna"), .root, .edit)],
            [rule, AccessRule(.user("anna"), path("/a/b"), .none)],
            [rule, AccessRule(.user("anna"), path("/b"), .edit)],
        ] {
            #expect(fingerprints.insert(try view(rules).fingerprint).inserted, "\(rules)")
        }
        let limited = Principal(
            .appPassword, "anna", limit: AccessLimit(path: path("/a"), rights: .view))
        #expect(try view([rule], limited).fingerprint != view([rule]).fingerprint)
    }

    /// Views with different rights have different fingerprints.
    @Test(arguments: 0..<TestExtent.size(200, sampled: 20))
    func fingerprintsAgreeWithRights(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let oracle = AccessOracle.random(&random)
        let policy = try AccessRules(oracle.rules, groups: oracle.members)
        let views = AccessOracle.users.map { policy.view(of: Principal(.account, $0)) }
        for first in views {
            for second in views {
                let areSame = AccessOracle.paths.allSatisfy {
                    first.rights(at: path($0)) == second.rights(at: path($0))
                }
                #expect(areSame || first.fingerprint != second.fingerprint, "\(oracle.rules)")
            }
        }
    }
}

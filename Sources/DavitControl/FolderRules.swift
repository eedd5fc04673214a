internal import DavitAccess
internal import DavitAccounts
internal import DavitEngine
internal import DavitHTTP
internal import DavitServer

/// Who has which rights in a folder, and the rules that the rights come from.
struct FolderRules {
    private let contents: AccountContents
    private let visit: PageContext
    /// The rules of the folder and of those above it. Only these determine the rights in the folder.
    private let effective: [AccessRule]
    /// The rules of folders below it.
    private let below: [AccessRule]
    /// See ``DavitAccounts/AccountDirectory/homes``.
    private let homes: ResourcePath?

    init(_ contents: AccountContents, _ homes: ResourcePath?, _ visit: PageContext) {
        self.contents = contents
        self.homes = homes
        self.visit = visit
        let folder = visit.target.equivalenceKey
        var effective: [AccessRule] = []
        var below: [AccessRule] = []
        for rule in contents.rules {
            let key = rule.path.equivalenceKey
            if key.contains(folder) {
                effective.append(rule)
            } else if folder.contains(key) {
                below.append(rule)
            }
        }
        self.effective = effective
        self.below = below
    }

    /// `people` are the accounts, each with its rights and the indices in `rules` of the rules that they come from.
    var json: JSONWriter {
        let limit = AdministrationEndpoint.limitItems
        // Without rules of other folders, the policy determines the rights of each account quickly.
        let policy = try? AccessRules(effective, groups: contents.groups, homes: homes)
        let implied = policy.map(impliedRules) ?? []
        let rules = effective + below
        let index = Dictionary(uniqueKeysWithValues: (rules + implied).enumerated().map { ($1, "\($0)") })
        var json = JSONWriter()
        json.object {
            $0.member("path", visit.target.encodedText)
            $0.member("groups", contents.groups.keys.sorted())
            $0.member("rules", (rules + implied).prefix(limit).enumerated()) { json, item in
                let (position, rule) = item
                if position < rules.count {
                    json.members(of: rule, showsPath: isShown(rule.path))
                } else {
                    json.members(ofImplied: rule, showsPath: isShown(rule.path))
                }
            }
            $0.member("people", contents.accounts.prefix(limit)) { json, account in
                let from = policy?.explain(Principal(.account, account.name), at: visit.target) ?? []
                json.member("name", account.name)
                json.member("isEnabled", account.isEnabled)
                json.member("rights", from.reduce(Rights.none) { $0.union($1.rights) }.description)
                json.member("from", from.compactMap { index[$0] })
            }
            $0.member("isComplete", max(rules.count + implied.count, contents.accounts.count) <= limit)
        }
        return json
    }

    /// Returns the rules of the folder and of those above it that follow from home folders.
    private func impliedRules(_ policy: AccessRules) -> [AccessRule] {
        var rules: [AccessRule] = []
        var folder: ResourcePath? = visit.target
        while let place = folder {
            // Rules for anonymous clients are not shown here, because they are not among the people.
            rules += policy.impliedRules(in: place).filter { $0.subject != .anonymous }
            folder = place.parent
        }
        return rules
    }

    /// Whether the client may know of the folder of a rule.
    private func isShown(_ path: ResourcePath) -> Bool {
        path.isRoot || visit.target.contains(path) || visit.rights(at: path, isCollection: true).mayList
    }
}

import DavitAccess
import DavitHTTP

/// How a client is authenticated, and where its rights come from.
enum AccessKind: String, CaseIterable, Sendable {
    /// An account with exactly these rights.
    case account
    /// An account with all rights, whose credential has exactly these.
    case appPassword
    /// A link of an account with all rights, limited to the place and to these rights.
    case link
    /// A certificate whose group has exactly these rights.
    case certificate
    case anonymous
}

/// Where rights are granted.
enum AccessPlace: String, CaseIterable, Sendable {
    /// In the folder itself.
    case folder
    /// Three levels above.
    case inherited
    /// To a group.
    case group
    /// To everyone, below a folder without rights.
    case everyone
    /// Through a symbolic link.
    case link
    /// In the root.
    case root

    /// The path by which the client addresses the folder.
    var path: String {
        switch self {
        case .folder, .group, .everyone: "/p"
        case .inherited: "/p/a/b/c"
        case .link: "/open/link"
        case .root: ""
        }
    }

    /// The path of the folder, in which links are resolved.
    var folder: String { self == .link ? "p" : String(path.dropFirst()) }

    /// Returns rules for a client of a kind, and one for `root`, who has all rights.
    func rules(_ rights: Rights, _ kind: AccessKind) throws -> AccessRules {
        let (open, folder) = (Self.path("open"), Self.path("p"))
        // The rights of the credential are tested, not those of its account.
        let granted = kind == .appPassword || kind == .link ? Rights.all : rights
        var rules = [AccessRule(.user("root"), .root, .all), AccessRule(.user("root"), folder, .all)]
        let subject: AccessRule.Subject =
            switch (kind, self) {
            case (.anonymous, _): .anonymous
            case (_, .everyone): .everyone
            case (.certificate, _): .group("idp")
            case (_, .group): .group("team")
            default: .user("ann")
            }
        rules.append(AccessRule(kind == .anonymous ? .anonymous : .user("ann"), open, .edit))
        if self == .everyone {
            rules.append(AccessRule(kind == .anonymous ? .anonymous : .user("ann"), .root, .none))
        }
        // What others may do is irrelevant.
        if kind == .anonymous {
            rules.append(AccessRule(.everyone, folder, .all))
        } else {
            rules.append(AccessRule(.anonymous, folder, .all))
        }
        rules.append(AccessRule(subject, self == .root ? .root : folder, granted))
        return try AccessRules(rules, groups: ["team": ["ann"], "idp": ["ben"]])
    }

    func principal(_ rights: Rights, _ kind: AccessKind) -> Principal {
        switch kind {
        case .account: Principal(.account, "ann")
        case .appPassword: Principal(.appPassword, "ann", limit: AccessLimit(path: .root, rights: rights))
        case .link:
            Principal(
                .link, "ann",
                limit: AccessLimit(path: isWhole ? .root : Self.path(self.folder), rights: rights))
        case .certificate: Principal(.certificate, "ann", groups: ["idp"])
        case .anonymous: .anonymous
        }
    }

    /// Whether the limit of a link must include `/open`, through which the folder is reached, or includes it anyway.
    private var isWhole: Bool { self == .link || self == .root }

    /// The rights that the client has in `/open`.
    func openRights(_ rights: Rights, _ kind: AccessKind) -> Rights {
        switch kind {
        case .account, .certificate, .anonymous: .edit
        case .appPassword: rights.intersection(.edit)
        case .link: isWhole ? rights.intersection(.edit) : .none
        }
    }

    private static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }
}

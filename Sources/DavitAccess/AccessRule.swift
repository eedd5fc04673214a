public import DavitHTTP

/// Grants rights in a folder, with everything below it up to deeper rules, to a user or a group.
///
/// Of all rules that concern a principal, the one of the deepest folder applies. In one folder, a rule for the user
/// applies before those for groups, and those before the rule for everyone; the rights of several groups add up.
/// A rule without rights is a rule like any other.
public struct AccessRule: Hashable, Sendable {
    /// Whom a rule concerns.
    public enum Subject: Hashable, Sendable {
        case user(String)
        case group(String)
        /// Every client that has signed in.
        case everyone
        /// Clients that have not signed in.
        case anonymous
    }

    public let subject: Subject
    /// A canonical path.
    public let path: ResourcePath
    public let rights: Rights

    public init(_ subject: Subject, _ path: ResourcePath, _ rights: Rights) {
        self.subject = subject
        self.path = path
        self.rights = rights
    }
}

extension AccessRule.Subject: CustomStringConvertible {
    /// `user:NAME`, `group:NAME`, `everyone` or `anonymous`.
    public var description: String {
        switch self {
        case .user(let name): "user:" + name
        case .group(let name): "group:" + name
        case .everyone: "everyone"
        case .anonymous: "anonymous"
        }
    }

    /// Parses the text that ``description`` returns.
    /// - Returns: nil if the text has another form or the name is empty.
    public init?(parsing text: String) {
        switch text {
        case "everyone": self = .everyone
        case "anonymous": self = .anonymous
        default:
            let parts = text.utf8.split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[1].isEmpty else { return nil }
            let name = String(Substring(parts[1]))
            switch String(Substring(parts[0])) {
            case "user": self = .user(name)
            case "group": self = .group(name)
            default: return nil
            }
        }
    }
}

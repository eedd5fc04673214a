/// The keys of a configuration file that are not options: lists and mappings with a form of their own.
enum FileKey: String, CaseIterable, Sendable {
    case folder, shares, mounts, users, groups, rules

    /// One line for the list of defaults and the JSON Schema.
    var help: String {
        switch self {
        case .folder: "the folder to share; the command line can name it instead"
        case .shares: "several shares, each at a path of its own, instead of 'folder'"
        case .mounts: "other folders in the share"
        case .users: "accounts; 'davit password' prints hashes, and a password-file has mode 0600"
        case .groups: "groups of accounts, for rules"
        case .rules:
            "what accounts may do in folders, as for 'davit access'; without rules, every account may do everything"
        }
    }

    /// The fields of each item; nil for other values.
    var fields: [FileField]? {
        switch self {
        case .mounts:
            [
                .init("path", "path in the share, such as /team", isRequired: true),
                .init("folder", "the folder", isRequired: true),
            ]
        case .users:
            [
                .init("name", "name of the account", isRequired: true),
                .init("password", "password; use hash or password-file instead"),
                .init("hash", "hash that 'davit password' prints, without the name"),
                .init("password-file", "file with the password or hash in its first line"),
            ]
        case .rules:
            [
                .init("who", "user:NAME, group:NAME or everyone", isRequired: true),
                .init("path", "folder in the share, such as /team", isRequired: true),
                .init("rights", "none, drop, view, add, edit, all, or a list of rights", isRequired: true),
            ]
        case .shares:
            [
                .init("path", "path of the share, such as /team", isRequired: true),
                .init("folder", "the folder to share", isRequired: true),
            ]
        case .folder, .groups: nil
        }
    }

    /// Whether a share of the list `shares` can have it.
    var isPerShare: Bool { self == .mounts || self == .rules }

    /// An example for the list of defaults, as lines.
    var example: [String] {
        switch self {
        case .folder: ["folder: /srv/files"]
        case .shares: ["shares:", "  - path: /team", "    folder: /srv/team", "    read-only: true"]
        case .mounts: ["mounts:", "  - path: /music", "    folder: /srv/music"]
        case .users: ["users:", "  - name: anna", "    password-file: /etc/davit/anna.secret"]
        case .groups: ["groups:", "  staff: [anna]"]
        case .rules: ["rules:", "  - {who: \"group:staff\", path: /, rights: edit}"]
        }
    }
}

/// A field of an item in a list of a configuration file.
struct FileField: Sendable {
    let name: String
    let help: String
    let isRequired: Bool

    init(_ name: String, _ help: String, isRequired: Bool = false) {
        self.name = name
        self.help = help
        self.isRequired = isRequired
    }
}

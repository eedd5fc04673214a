package import DavitAccess
package import DavitHTTP

/// The arguments of `davit account`, `davit group` and `davit access`.
package struct AccountOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case listAccounts
        /// - Parameter rights: the rights to the whole share; nil to add no rule.
        case addAccount(String, rights: Rights?)
        case setPassword(String)
        case setEnabled(String, Bool)
        case removeAccount(String)
        case listGroups
        case addGroup(String)
        case removeGroup(String)
        case addMember(String, group: String)
        case removeMember(String, group: String)
        case listRules
        case setRule(AccessRule)
        case removeRule(AccessRule.Subject, ResourcePath)
        case explain(String, ResourcePath)
    }

    static let rights = "--rights"

    package var action: Action
    /// The shared folder, as given on the command line.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(_ action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

/// The words after an action and FOLDER, which are taken one by one.
private struct Rest {
    var words: ArraySlice<String>

    mutating func next(_ name: String) throws(UsageError) -> String {
        guard let word = words.popFirst(), !word.isEmpty else { throw .missingArgument(name) }
        return word
    }

    mutating func subject() throws(UsageError) -> AccessRule.Subject {
        let word = try next("WHO")
        guard let subject = AccessRule.Subject(parsing: word) else { throw .badSubject(word) }
        return subject
    }

    /// A path in the share, with or without slashes at its ends.
    mutating func path() throws(UsageError) -> ResourcePath {
        let word = try next("PATH")
        guard let path = ResourcePath(segments: word.utf8.split(separator: UInt8(ascii: "/"))) else {
            throw .badPath(word)
        }
        return path
    }

    mutating func rights() throws(UsageError) -> Rights {
        try Self.rights(try next("RIGHTS"))
    }

    static func rights(_ word: String) throws(UsageError) -> Rights {
        guard let rights = Rights(parsing: word) else { throw .badRights(word) }
        return rights
    }
}

extension Arguments {
    mutating func account() throws(UsageError) -> Invocation {
        var rights: Rights?
        let actions = ["list", "add", "password", "enable", "disable", "remove"]
        return try administration(.account, actions, options: [AccountOptions.rights]) {
            (arguments, name, value) throws(UsageError) in
            rights = try Rest.rights(arguments.value(of: name, behindSign: value))
        } action: { (action, rest) throws(UsageError) in
            if rights != nil, action != "add" {
                throw .useless(option: AccountOptions.rights, without: "'davit account add'")
            }
            if action == "list" { return .listAccounts }
            let name = try rest.next("NAME")
            switch action {
            case "add": return .addAccount(name, rights: rights)
            case "password": return .setPassword(name)
            case "enable", "disable": return .setEnabled(name, action == "enable")
            default: return .removeAccount(name)
            }
        }
    }

    mutating func group() throws(UsageError) -> Invocation {
        try administration(.group, ["list", "add", "remove", "join", "leave"]) {
            (action, rest) throws(UsageError) in
            if action == "list" { return .listGroups }
            let group = try rest.next("GROUP")
            switch action {
            case "add": return .addGroup(group)
            case "remove": return .removeGroup(group)
            case "join": return .addMember(try rest.next("NAME"), group: group)
            default: return .removeMember(try rest.next("NAME"), group: group)
            }
        }
    }

    mutating func access() throws(UsageError) -> Invocation {
        try administration(.access, ["list", "set", "remove", "explain"]) {
            (action, rest) throws(UsageError) in
            switch action {
            case "list": return .listRules
            case "set":
                let subject = try rest.subject()
                let path = try rest.path()
                return .setRule(AccessRule(subject, path, try rest.rights()))
            case "remove":
                let subject = try rest.subject()
                return .removeRule(subject, try rest.path())
            default:
                let name = try rest.next("NAME")
                return .explain(name, try rest.path())
            }
        }
    }

    /// Parses `ACTION FOLDER`, the words after them, `--state-dir` and other options.
    private mutating func administration(
        _ command: Subcommand, _ actions: [String], options: [String] = [],
        option: (inout Arguments, _ name: String, _ value: String?) throws(UsageError) -> Void = {
            (_, _, _) throws(UsageError) in
        },
        action: (String, inout Rest) throws(UsageError) -> AccountOptions.Action
    ) throws(UsageError) -> Invocation {
        var stateFolder: String?
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            if options.contains(name) { return try option(&arguments, name, value) }
            let stateDir = ServeOption.stateDir.rawValue
            guard name == stateDir else {
                let known = [stateDir, "--help"] + options
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
            stateFolder = try arguments.value(of: name, behindSign: value)
        }
        guard var words = words?[...], let first = words.popFirst() else { return .help(command.help) }
        guard actions.contains(first) else {
            throw .unknownCommand(
                "\(command.rawValue) \(first)",
                nearest: Self.nearest(to: first, in: actions).map { "\(command.rawValue) \($0)" })
        }
        guard let folder = words.popFirst(), !folder.isEmpty else { throw .missingFolder }
        var rest = Rest(words: words)
        let action = try action(first, &rest)
        if let more = rest.words.first { throw .moreThanOneFolder(more) }
        return .account(AccountOptions(action, folder: folder, stateFolder: stateFolder))
    }
}

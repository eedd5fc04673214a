package import DavitAccess
package import DavitControl
package import DavitHTTP
internal import DavitQRCode

/// The arguments of `davit account`, `davit app-password`, `davit group` and `davit access`.
package struct AccountOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case listAccounts
        /// - Parameter rights: the rights to the whole share; nil to add no rule.
        case addAccount(String, rights: Rights?)
        /// Adds an account whose user chooses the password with a link, which is valid for this number of hours.
        case invite(String, rights: Rights?, hours: Int)
        case setPassword(String)
        /// Lets the user of an account choose a new password with a link, and ends the present one.
        case link(String, hours: Int)
        case setEnabled(String, Bool)
        case removeAccount(String)
        case removeSecondFactor(String)
        /// - Parameter account: nil for all users.
        case listSessions(account: String?)
        case endSession(id: Int64)
        case listGroups
        case addGroup(String)
        case removeGroup(String)
        case addMember(String, group: String)
        case removeMember(String, group: String)
        case listRules
        case setRule(AccessRule)
        case removeRule(AccessRule.Subject, ResourcePath)
        case explain(ExplainedClient, ResourcePath)
        /// Lists rules, accounts and app passwords without effect.
        case review
        /// - Parameter account: nil for all accounts.
        case listAppPasswords(account: String?)
        /// - Parameter printsQRCode: whether to draw the password as a QR code.
        case addAppPassword(NewAppPassword, printsQRCode: Bool)
        case revokeAppPassword(account: String, id: String)
    }

    static let rights = "--rights"
    static let link = "--link"
    static let hours = "--hours"
    /// The default of ``hours``.
    static let standardHours = 24
    static let path = "--path"
    static let expires = "--expires"
    static let qrCode = "--qr"
    static let appPassword = "--app-password"
    static let group = "--group"

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
    mutating func path() throws(UsageError) -> ResourcePath { try Self.path(try next("PATH")) }

    static func path(_ word: String) throws(UsageError) -> ResourcePath {
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
        var hasLink = false
        var hours: Int?
        let actions = [
            "list", "add", "password", "link", "enable", "disable", "remove", "second-factor", "sessions",
            "end-session",
        ]
        return try administration(
            .account, actions, options: [AccountOptions.rights, AccountOptions.link, AccountOptions.hours]
        ) { (arguments, name, value) throws(UsageError) in
            if name == AccountOptions.link {
                if value != nil { throw .unwantedValue(option: name) }
                hasLink = true
                return
            }
            let value = try arguments.value(of: name, behindSign: value)
            if name == AccountOptions.rights {
                rights = try Rest.rights(value)
            } else {
                hours = try Self.number(value, option: name, in: PasswordLinks.hourRange)
            }
        } action: { (action, rest) throws(UsageError) in
            if action != "add", rights != nil || hasLink {
                let option = rights != nil ? AccountOptions.rights : AccountOptions.link
                throw .useless(option: option, without: "'davit account add'")
            }
            if hours != nil, action != "link", !hasLink {
                throw .useless(option: AccountOptions.hours, without: AccountOptions.link)
            }
            let duration = hours ?? AccountOptions.standardHours
            if action == "list" { return .listAccounts }
            if action == "sessions" { return .listSessions(account: rest.words.popFirst()) }
            if action == "end-session" {
                let word = try rest.next("ID")
                guard let id = Int64(word) else { throw .badSession(word) }
                return .endSession(id: id)
            }
            let name = try rest.next("NAME")
            switch action {
            case "add" where hasLink: return .invite(name, rights: rights, hours: duration)
            case "add": return .addAccount(name, rights: rights)
            case "link": return .link(name, hours: duration)
            case "password": return .setPassword(name)
            case "second-factor":
                let word = try rest.next("off")
                guard word == "off" else {
                    throw .unknownCommand(
                        "account second-factor \(word)", nearest: "account second-factor off")
                }
                return .removeSecondFactor(name)
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
        var appPassword: String?
        var groups: [String] = []
        return try administration(
            .access, ["list", "set", "remove", "explain", "check"],
            options: [AccountOptions.appPassword, AccountOptions.group]
        ) { (arguments, name, value) throws(UsageError) in
            let value = try arguments.value(of: name, behindSign: value)
            if name == AccountOptions.group { groups.append(value) } else { appPassword = value }
        } action: { (action, rest) throws(UsageError) in
            if action != "explain",
                let option = appPassword == nil
                    ? groups.first.map({ _ in AccountOptions.group }) : AccountOptions.appPassword
            {
                throw .useless(option: option, without: "'davit access explain'")
            }
            switch action {
            case "list": return .listRules
            case "check": return .review
            case "set":
                let subject = try rest.subject()
                let path = try rest.path()
                return .setRule(AccessRule(subject, path, try rest.rights()))
            case "remove":
                let subject = try rest.subject()
                return .removeRule(subject, try rest.path())
            default:
                let word = try rest.next("NAME")
                // An account with the name "anonymous" is user:anonymous.
                let account: String? =
                    switch AccessRule.Subject(parsing: word) {
                    case .user(let name): name
                    case .anonymous: nil
                    default: word
                    }
                let client = ExplainedClient(account: account, groups: groups, appPassword: appPassword)
                return .explain(client, try rest.path())
            }
        }
    }

    mutating func appPassword() throws(UsageError) -> Invocation {
        var path: ResourcePath?
        var rights: Rights?
        var days: Int?
        var printsQRCode = false
        var given: String?
        return try administration(
            .appPassword, ["list", "add", "revoke"],
            options: [
                AccountOptions.path, AccountOptions.rights, AccountOptions.expires, AccountOptions.qrCode,
            ]
        ) { (arguments, name, value) throws(UsageError) in
            given = given ?? name
            if name == AccountOptions.qrCode {
                if value != nil { throw .unwantedValue(option: name) }
                if !QRCodeLibrary.isAvailable { throw .noQRCodes(option: name) }
                printsQRCode = true
                return
            }
            let value = try arguments.value(of: name, behindSign: value)
            switch name {
            case AccountOptions.path: path = try Rest.path(value)
            case AccountOptions.rights: rights = try Rest.rights(value)
            default: days = try Self.number(value, option: name, in: NewAppPassword.dayRange)
            }
        } action: { (action, rest) throws(UsageError) in
            if let given, action != "add" {
                throw .useless(option: given, without: "'davit app-password add'")
            }
            switch action {
            case "list": return .listAppPasswords(account: rest.words.popFirst())
            case "add":
                let account = try rest.next("NAME")
                return .addAppPassword(
                    NewAppPassword(
                        account: account, label: try rest.next("DEVICE"), path: path, rights: rights,
                        days: days),
                    printsQRCode: printsQRCode)
            default:
                let account = try rest.next("NAME")
                return .revokeAppPassword(account: account, id: try rest.next("ID"))
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
        guard var words = words?[...] else { return .help(command.help) }
        let (name, folder) = try Self.actionAndFolder(of: command, &words, in: actions)
        var rest = Rest(words: words)
        let action = try action(name, &rest)
        if let more = rest.words.first { throw .unexpectedArgument(more) }
        return .account(AccountOptions(action, folder: folder, stateFolder: stateFolder))
    }
}

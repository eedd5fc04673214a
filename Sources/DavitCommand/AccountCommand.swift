internal import DavitAccess
internal import DavitAccounts
internal import DavitControl
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer
internal import DavitSystem

/// `davit account`, `davit app-password`, `davit group` and `davit access`: list and change the accounts, app passwords, groups
/// and rules of a share, directly or through the server that owns the state.
package struct AccountCommand {
    let options: AccountOptions

    package init(options: AccountOptions) { self.options = options }

    /// Sends a request; returns nil if the server no longer listens.
    private typealias Ask = (ControlRequest) throws(CommandFailure) -> [String]?

    /// Asks for a password if the action needs one, and prints the result. Blocks.
    func run() throws(CommandFailure) {
        let password: [UInt8] =
            switch options.action {
            case .addAccount, .setPassword: try readPassword()
            default: []
            }
        let text = try text(password: password)
        StandardStreams.writeOutput(text)
        switch options.action {
        case .review where text != Self.nothingFound:
            throw .other("some rules or credentials have no effect")
        case .addAppPassword(let new, let printsQRCode):
            let password = String(text.dropLast())
            let code = printsQRCode ? QRCode(encoding: password) : nil
            StandardStreams.writeError(
                (code?.terminalText(isColored: StandardStreams.errorHasTerminal) ?? "")
                    + AppPasswordSteps.text(new, password))
        default: break
        }
    }

    /// Asks for a password, if the share can be used. Blocks.
    private func readPassword() throws(CommandFailure) -> [UInt8] {
        _ = try open()
        return try PasswordCommand.readPassword()
    }

    private static let nothingFound = "nothing found\n"

    /// Runs the command and returns the text for standard output. Blocks.
    /// - Parameter password: for actions that set one.
    package func text(password: [UInt8] = []) throws(CommandFailure) -> String {
        // Before anything is created: an invalid name or password.
        let secret: String?
        var link = ""
        switch options.action {
        case .addAccount(let name, _), .setPassword(let name):
            secret = try PasswordCommand(options: PasswordOptions(name: name)).secret(for: password)
        case .invite(let name, _, let hours), .link(let name, let hours):
            let made = try PasswordLinks.make(of: name, hours: hours)
            (secret, link) = (made.secret, made.query)
        default: secret = nil
        }
        return try text(secret: secret ?? "", link: link)
    }

    private func open() throws(CommandFailure) -> any ShareAccess {
        let isFirst =
            switch options.action {
            case .addAccount, .invite: true
            default: false
            }
        return try ShareAccessFactory.open(
            options.folder, stateFolder: options.stateFolder, isCreated: isFirst)
    }

    /// - Parameter link: the query of the URL of the link that belongs to the secret.
    package func text(secret: String, link: String) throws(CommandFailure) -> String {
        let options = options
        return try open().ask { (ask) throws(CommandFailure) in try Self.text(options, secret, link, ask) }
    }

    private static func text(
        _ options: AccountOptions, _ secret: String, _ link: String, _ ask: Ask
    ) throws(CommandFailure) -> String? {
        switch options.action {
        case .listAccounts:
            return try lines(ask) { .accounts(skipped: $0) }?.map(text).joined().or("no accounts\n")
        case .listGroups:
            return try lines(ask) { .members(skipped: $0) }.map(groups)?.or("no groups\n")
        case .listRules:
            return try lines(ask) { .rules(skipped: $0) }?.map(text).joined().or("no rules\n")
        case .explain(let client, let path):
            guard let lines = try lines(of: .explain(client, path), ask),
                case .rights(let rights)? = lines.first
            else { return nil }
            let rules = lines.dropFirst().map { "  from: \(text($0))" }.joined()
            var name = client.account.map(shown) ?? "anonymous"
            if let id = client.appPassword { name += " with app password \(shown(id))" }
            return "rights of \(name) in \(shown(path)): \(description(rights))\n"
                + rules.or("  no rule applies\n")
        case .review:
            return try lines(ask) { .review(skipped: $0) }?.map(text).joined().or(nothingFound)
        case .listAppPasswords(let account):
            return try lines(ask) { .appPasswords(account: account, skipped: $0) }?.map(text).joined()
                .or("no app passwords\n")
        case .addAppPassword(let new, _):
            guard let lines = try lines(of: .addAppPassword(new), ask) else { return nil }
            guard case .issued(_, let password)? = lines.first else {
                throw .other("invalid response; the server may be another version of davit")
            }
            return password + "\n"
        case .revokeAppPassword(let account, let id):
            return try change(
                [.removeAppPassword(account: account, id: id)], ask,
                "revoked app password \(shown(id)) of \(shown(account))")
        case .invite(let name, let rights, let hours):
            let account = AccountOptions(.addAccount(name, rights: rights), folder: options.folder)
            return try text(account, secret, "", ask).map { $0 + shown(link: link, hours) }
        case .link(let name, let hours):
            return try change(
                [.setSecret(account: name, secret: secret)], ask, "ended the password of \(shown(name))"
            )
            .map { $0 + shown(link: link, hours) }
        case .addAccount(let name, let rights):
            var changes: [AccountChange] = [.addAccount(StoredAccount(name: name, secret: secret))]
            if let rights { changes.append(.setRule(AccessRule(.user(name), .root, rights))) }
            guard try ask(.accounts(.change(changes))) != nil else { return nil }
            if let rights { return "added account \(shown(name)) with the rights \(description(rights))\n" }
            return """
                added account \(shown(name)), without rights; to grant some:
                  davit access set '\(options.folder)' 'user:\(shown(name))' / edit

                """
        case .setPassword(let name):
            return try change(
                [.setSecret(account: name, secret: secret)], ask, "changed the password of \(shown(name))")
        case .setEnabled(let name, let isEnabled):
            return try change(
                [.setEnabled(account: name, isEnabled: isEnabled)], ask,
                "\(isEnabled ? "enabled" : "disabled") account \(shown(name))")
        case .removeAccount(let name):
            return try change([.removeAccount(name)], ask, "removed account \(shown(name))")
        case .removeSecondFactor(let name):
            return try change(
                [.setSecondFactor(account: name, nil, keepingSession: nil)], ask,
                "turned off the second factor of \(shown(name))")
        case .listSessions(let account):
            return try lines(ask) { .sessions(account: account, skipped: $0) }?.map(text).joined()
                .or("no sessions\n")
        case .endSession(let id):
            return try ask(.accounts(.endSession(id: id))).map { _ in "ended session \(id)\n" }
        case .addGroup(let group): return try change([.addGroup(group)], ask, "added group \(shown(group))")
        case .removeGroup(let group):
            return try change([.removeGroup(group)], ask, "removed group \(shown(group))")
        case .addMember(let name, let group):
            return try change(
                [.addMember(account: name, group: group)], ask, "added \(shown(name)) to \(shown(group))")
        case .removeMember(let name, let group):
            return try change(
                [.removeMember(account: name, group: group)], ask,
                "removed \(shown(name)) from \(shown(group))")
        case .setRule(let rule):
            return try change(
                [.setRule(rule)], ask,
                "rights of \(shown(rule.subject.description)) in \(shown(rule.path)): \(description(rule.rights))"
            )
        case .removeRule(let subject, let path):
            return try change(
                [.removeRule(subject, path)], ask,
                "removed the rule for \(shown(subject.description)) in \(shown(path))")
        }
    }

    private static func change(
        _ changes: [AccountChange], _ ask: Ask, _ result: String
    ) throws(CommandFailure) -> String? {
        try ask(.accounts(.change(changes))).map { _ in result + "\n" }
    }

    // MARK: Lists

    /// Returns the lines of all pages.
    private static func lines(
        _ ask: Ask, page: (_ skipped: Int) -> AccountRequest
    ) throws(CommandFailure) -> [AccountListLine]? {
        var all: [AccountListLine] = []
        while true {
            guard let lines = try lines(of: page(all.count), ask) else { return nil }
            if lines.isEmpty { return all }
            all += lines
        }
    }

    private static func lines(
        of request: AccountRequest, _ ask: Ask
    ) throws(CommandFailure) -> [AccountListLine]? {
        guard let texts = try ask(.accounts(request)) else { return nil }
        var lines: [AccountListLine] = []
        for text in texts {
            guard let line = AccountListLine(parsing: text) else {
                throw .other("invalid response; the server may be another version of davit")
            }
            lines.append(line)
        }
        return lines
    }

    private static func text(_ line: AccountListLine) -> String {
        switch line {
        case .account(let name, let isEnabled): "\(shown(name))\(isEnabled ? "" : " (disabled)")\n"
        case .member(let group, let name): "\(shown(group)): \(name.map(shown) ?? "")\n"
        case .rule(let rule):
            "\(shown(rule.path))  \(shown(rule.subject.description))  \(description(rule.rights))\n"
        case .homeRule(let rule):
            "\(shown(rule.path))  \(shown(rule.subject.description))  \(description(rule.rights))  (home folders)\n"
        case .rights(let rights): "\(description(rights))\n"
        case .appPassword(let password): Self.text(password)
        case .issued(let id, _): "\(shown(id))\n"
        case .session(let session): Self.text(session)
        case .finding(let text): "\(shown(text))\n"
        }
    }

    /// Returns the line of an app password: ID, account, device, limit, expiry and last use.
    private static func text(_ password: StoredAppPassword) -> String {
        let limit = password.limit.map { "\(shown($0.path)): \($0.rights)" } ?? "unlimited"
        let expiry = password.expiry.map { "expires \(date($0))" } ?? "does not expire"
        let use =
            password.lastUse.map { "last used \(date($0.time)) from \(shown($0.address))" } ?? "not used"
        return
            "\(shown(password.id))  \(shown(password.account))  \(shown(password.label))  \(limit)  \(expiry)  \(use)\n"
    }

    /// Returns the line of a session: ID, user, browser, last use and beginning.
    private static func text(_ session: ListedSession) -> String {
        let device = session.device.isEmpty ? "unknown browser" : session.device
        let use = "last used \(date(session.usedAt)) from \(shown(session.address))"
        return
            "\(session.id)  \(shown(session.account))  \(device)  \(use)  signed in \(date(session.createdAt))\n"
    }

    /// Returns a time as `2026-01-31 12:00 UTC`.
    private static func date(_ seconds: Int64) -> String {
        let text = String(decoding: HTTPDate.iso8601(Timestamp(seconds: seconds)), as: UTF8.self)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }

    /// Returns one line for each group, with its members.
    private static func groups(_ lines: [AccountListLine]) -> String {
        var members: [(group: String, names: [String])] = []
        for case .member(let group, let name) in lines {
            if members.last?.group != group { members.append((group, [])) }
            if let name { members[members.count - 1].names.append(shown(name)) }
        }
        return members.map { group, names in
            "\(shown(group)): \(names.isEmpty ? "no members" : names.joined(separator: ", "))\n"
        }.joined()
    }

    /// The name of a preset with what it means, or the names of the rights.
    private static func description(_ rights: Rights) -> String {
        let names = Right.allCases.filter { rights.contains($0) }.map(\.name).joined(separator: ",")
        let text = rights.description
        return text == names || rights.isEmpty ? text : "\(text) (\(names))"
    }

    private static func shown(link: String, _ hours: Int) -> String {
        """
        to choose the password, once within \(hours) hours, open this path of the server:
          /\(link)

        """
    }

    private static func shown(_ name: String) -> String { NameCheck.shown(Array(name.utf8)) }
    private static func shown(_ path: ResourcePath) -> String { "/" + NameCheck.shown(path.bytes) }
}

extension String {
    /// The string, or another one if it is empty.
    fileprivate func or(_ other: String) -> String { isEmpty ? other : self }
}

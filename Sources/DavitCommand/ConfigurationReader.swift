internal import Davit
internal import DavitAccess
internal import DavitHTTP
internal import DavitYAML

/// Reads a configuration file: verifies each value by the type of its key, and collects everything that is wrong.
struct ConfigurationReader {
    private(set) var file = ConfigurationFile()
    private(set) var problems: [ConfigurationProblem] = []
    /// The places of the keys at the top of the file.
    private var positions: [FileKey: YAMLPosition] = [:]

    /// Reads a file; see ``problems``.
    init(_ bytes: [UInt8]) {
        let document = YAMLDocument(parsing: bytes)
        problems = document.problems.map { ConfigurationProblem($0.position, $0.message) }
        guard let root = document.root else {
            file.namesFolder = !problems.isEmpty
            return
        }
        // A file with only comments between `---` and `...`.
        if case .scalar("", isPlain: true) = root.content { return }
        file.namesFolder = true
        guard let members = mapping(root, "the file", "settings") else { return }
        for member in members { readTop(member) }
        file.namesFolder = positions[.folder] != nil || positions[.shares] != nil
        checkTop()
    }

    private mutating func report(_ position: YAMLPosition, _ message: String) {
        problems.append(ConfigurationProblem(position, message))
    }

    private mutating func report(_ node: YAMLNode, _ key: String, expected: String, isSecret: Bool = false) {
        if case .invalid = node.content { return }
        let found = isSecret && Self.isText(node) ? "another value" : Self.found(node)
        report(node.position, "\(key): expected \(expected), found \(found)")
    }

    // MARK: Keys

    private mutating func readTop(_ member: YAMLMember) {
        if let option = Self.option(member.key), option.entry.scope != .commandLine {
            file.settings += settings(option, member)
            return
        }
        let key = FileKey(rawValue: member.key)
        if let key { positions[key] = member.position }
        switch key {
        case .folder: file.top.folder = text(member.value, member.key)
        case .shares: readShares(member)
        case .mounts: file.top.mounts = mounts(member.value)
        case .rules:
            file.top.position = member.position
            file.top.rules = rules(member.value)
        case .users: readUsers(member.value)
        case .groups: readGroups(member.value)
        case nil: reportUnknown(member, among: Self.topKeys)
        }
    }

    /// The option with a key, unless it has another form in a file.
    static func option(_ key: String) -> ServeOption? {
        guard let option = ServeOption(rawValue: "--" + key) else { return nil }
        switch option.entry.kind {
        case .account, .mount: return nil
        default: return option
        }
    }

    static let topKeys =
        ServeOption.allCases.filter { $0.entry.scope != .commandLine }
        .map(\.key).filter { option($0) != nil } + FileKey.allCases.map(\.rawValue)
    static let shareKeys =
        ServeOption.allCases.filter { $0.entry.scope == .share }
        .map(\.key).filter { option($0) != nil } + FileKey.allCases.filter(\.isPerShare).map(\.rawValue)
        + (FileKey.shares.fields ?? []).map(\.name)

    /// - Parameter isSecret: whether the key can be a value by mistake, such as `anna:secret`, which must not be shown.
    private mutating func reportUnknown(
        _ member: YAMLMember, among keys: [String], isShare: Bool = false, isSecret: Bool = false
    ) {
        let shown = YAMLNode.shown(member.key)
        var hint = ""
        if isShare, Self.topKeys.contains(member.key) {
            hint = "; it is a setting of the server: move it to the top of the file"
        } else if let plain = member.key.first == "-" ? String(member.key.drop { $0 == "-" }) : nil,
            keys.contains(plain)
        {
            hint = "; did you mean '\(plain)'?"
        } else if member.key.utf8.count <= 100, let nearest = Arguments.nearest(to: member.key, in: keys) {
            hint = "; did you mean '\(nearest)'?"
        } else if isSecret {
            report(member.position, "unknown key: expected \(keys.joined(separator: ", "))")
            return
        }
        report(member.position, "unknown key '\(shown)'\(hint)")
    }

    private mutating func checkTop() {
        guard let shares = file.shares else { return }
        for (key, position) in positions where key == .folder || key.isPerShare {
            report(position, "found both '\(key.rawValue)' and 'shares': move it into a share")
        }
        var paths: Set<String> = []
        for share in shares where !share.path.isEmpty && !paths.insert(share.path).inserted {
            report(share.position, "path: two shares have the path \(YAMLNode.shown(share.path))")
        }
    }

    // MARK: Options

    /// Returns the settings for the value of an option, a list if it can have several.
    private mutating func settings(_ option: ServeOption, _ member: YAMLMember) -> [OptionSetting] {
        let kind = option.entry.kind
        let isWords = if case .words = kind { true } else { false }
        guard option.entry.isRepeatable || isWords, case .sequence(let items) = member.value.content else {
            return value(option, member.value).map { [$0] } ?? []
        }
        if isWords {
            var words: [String] = []
            for item in items {
                guard let word = text(item, option.key, expected: "a word") else { continue }
                if word.contains(",") {
                    report(item, option.key, expected: "a word without commas")
                } else {
                    words.append(word)
                }
            }
            if items.isEmpty { report(member.value, option.key, expected: kind.expected) }
            let value = words.joined(separator: ",")
            return value.isEmpty ? [] : checked(option, value, member.value.position).map { [$0] } ?? []
        }
        return items.compactMap { value(option, $0) }
    }

    /// Returns a setting for a scalar; reports a problem and returns nil if it has another type.
    private mutating func value(_ option: ServeOption, _ node: YAMLNode) -> OptionSetting? {
        let kind = option.entry.kind
        // A key without a value is a mistake; an empty text is in quotes.
        guard case .scalar(let text, let isPlain) = node.content, kind.accepts(text),
            isPlain ? !text.isEmpty : !kind.isPlain
        else {
            report(node, option.key, expected: kind.expected, isSecret: option.entry.isSecret)
            return nil
        }
        return checked(option, text, node.position)
    }

    /// Applies a setting to see whether it has an error of its own.
    private mutating func checked(
        _ option: ServeOption, _ value: String, _ position: YAMLPosition
    ) -> OptionSetting? {
        let setting = OptionSetting(option, value, .file(position))
        var draft = ServeDraft()
        do throws(UsageError) { try draft.apply([setting]) } catch {
            report(position, Self.message(error))
            return nil
        }
        return setting
    }

    /// Returns the message of an error of the command line, without the dashes of options.
    static func message(_ error: UsageError) -> String { withoutDashes(error.message) }

    /// Returns a message without the dashes of options.
    static func withoutDashes(_ message: String) -> String {
        message.split(separator: " ", omittingEmptySubsequences: false).map { word in
            ServeOption(rawValue: String(word.prefix { $0 == "-" || $0.isLetter })) == nil
                ? word : word.dropFirst(2)
        }.joined(separator: " ")
    }

    // MARK: Lists

    private mutating func readShares(_ member: YAMLMember) {
        guard let items = list(member.value, member.key) else { return }
        if items.isEmpty { report(member.value, member.key, expected: "at least one share") }
        file.shares = items.compactMap { share($0) }
    }

    private mutating func share(_ node: YAMLNode) -> ConfigurationFile.FileShare? {
        guard let members = mapping(node, "shares", "a share") else { return nil }
        var share = ConfigurationFile.FileShare(position: node.position)
        for member in members {
            if let option = Self.option(member.key), option.entry.scope == .share {
                share.settings += settings(option, member)
                continue
            }
            switch member.key {
            case "path": share.path = sharePath(member.value) ?? share.path
            case "folder": share.folder = text(member.value, member.key)
            case FileKey.mounts.rawValue: share.mounts = mounts(member.value)
            case FileKey.rules.rawValue: share.rules = rules(member.value)
            default: reportUnknown(member, among: Self.shareKeys, isShare: true)
            }
        }
        let keys = Set(members.map(\.key))
        for field in FileKey.shares.fields ?? [] where !keys.contains(field.name) {
            report(node.position, "share: missing '\(field.name)': expected \(field.help)")
        }
        return share
    }

    /// Characters other than these could be a pattern of a route, or need encoding.
    private mutating func sharePath(_ node: YAMLNode) -> String? {
        guard let path = text(node, "path") else { return nil }
        let isPlain = path.utf8.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return byte < 128 && (character.isLetter || character.isNumber || "-._~/".contains(character))
        }
        guard isPlain, PathPrefix(path) != nil, path.count > 1 else {
            report(
                node, "path",
                expected: "a path such as /team, of letters, digits and the characters - . _ ~")
            return nil
        }
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private mutating func mounts(_ node: YAMLNode) -> [WebDAVShare.MountedFolder] {
        var mounts: [WebDAVShare.MountedFolder] = []
        for fields in records(node, .mounts) {
            guard let path = fields["path"], let folder = fields["folder"] else { continue }
            guard path.text.hasPrefix("/") else {
                report(path.node, "path", expected: "a path such as /team")
                continue
            }
            mounts.append(.init(path.text, folder: folder.text))
        }
        return mounts
    }

    private mutating func rules(_ node: YAMLNode) -> [AccessRule] {
        var rules: [AccessRule] = []
        for fields in records(node, .rules) {
            guard let who = fields["who"], let place = fields["path"], let what = fields["rights"] else {
                continue
            }
            let subject = AccessRule.Subject(parsing: who.text)
            if subject == nil || subject == .anonymous {
                report(who.node, "who", expected: "user:NAME, group:NAME or everyone")
            }
            let path = ResourcePath(segments: place.text.utf8.split(separator: UInt8(ascii: "/")))
            if path == nil { report(place.node, "path", expected: "a path in the share") }
            let rights = Rights(parsing: what.text)
            if rights == nil {
                report(
                    what.node, "rights",
                    expected: "none, drop, view, add, edit, all, or rights separated by commas")
            }
            if let subject, subject != .anonymous, let path, let rights {
                rules.append(AccessRule(subject, path, rights))
            }
        }
        return rules
    }

    private mutating func readUsers(_ node: YAMLNode) {
        var users: [ConfigurationFile.FileUser] = []
        for fields in records(node, .users) {
            guard let name = fields["name"] else { continue }
            let user = ConfigurationFile.FileUser(
                name: name.text, position: name.node.position, password: fields["password"]?.text,
                hash: fields["hash"]?.text, passwordFile: fields["password-file"]?.text)
            if user.password != nil || user.hash != nil { file.hasSecrets = true }
            if [user.password, user.hash, user.passwordFile].compactMap(\.self).count != 1 {
                report(
                    name.node.position,
                    "user '\(Self.shownName(name.text))': expected one of password, hash and password-file")
            } else if users.contains(where: { $0.name == user.name }) {
                report(name.node, "name", expected: "a name that no other account has")
            } else {
                users.append(user)
            }
        }
        file.users = users
    }

    /// The name of an account for a message, without what follows a colon: it could be a password.
    static func shownName(_ name: String) -> String { YAMLNode.shown(String(name.prefix { $0 != ":" })) }

    private mutating func readGroups(_ node: YAMLNode) {
        guard let members = mapping(node, FileKey.groups.rawValue, "names of groups") else { return }
        for member in members {
            guard let names = list(member.value, YAMLNode.shown(member.key)) else { continue }
            file.groups[member.key] = Set(names.compactMap { text($0, member.key) })
        }
    }

    // MARK: Values

    /// The text of a field, and where it is.
    private struct LocatedText {
        let text: String
        let node: YAMLNode
    }

    /// Returns the fields of each item of a list of mappings, all of which are texts.
    private mutating func records(_ node: YAMLNode, _ key: FileKey) -> [[String: LocatedText]] {
        let isSecret = key == .users
        guard let items = list(node, key.rawValue, isSecret: isSecret), let known = key.fields else {
            return []
        }
        var records: [[String: LocatedText]] = []
        for item in items {
            guard let members = mapping(item, key.rawValue, "a mapping", isSecret: isSecret) else { continue }
            var fields: [String: LocatedText] = [:]
            for member in members {
                guard let field = known.first(where: { $0.name == member.key }) else {
                    reportUnknown(member, among: known.map(\.name), isSecret: isSecret)
                    continue
                }
                if let text = text(member.value, field.name) {
                    fields[field.name] = LocatedText(text: text, node: member.value)
                }
            }
            let keys = Set(members.map(\.key))
            for field in known where field.isRequired && !keys.contains(field.name) {
                report(item.position, "\(key.rawValue): missing '\(field.name)': expected \(field.help)")
            }
            records.append(fields)
        }
        return records
    }

    private mutating func mapping(
        _ node: YAMLNode, _ key: String, _ expected: String, isSecret: Bool = false
    ) -> [YAMLMember]? {
        if case .mapping(let members) = node.content { return members }
        report(node, key, expected: expected, isSecret: isSecret)
        return nil
    }

    private mutating func list(_ node: YAMLNode, _ key: String, isSecret: Bool = false) -> [YAMLNode]? {
        if case .sequence(let items) = node.content { return items }
        report(node, key, expected: "a list", isSecret: isSecret)
        return nil
    }

    private mutating func text(_ node: YAMLNode, _ key: String, expected: String = "a text") -> String? {
        if case .scalar(let text, _) = node.content, !text.isEmpty { return text }
        report(node, YAMLNode.shown(key), expected: expected)
        return nil
    }

    private static func isText(_ node: YAMLNode) -> Bool {
        if case .scalar(let text, _) = node.content { !text.isEmpty } else { false }
    }

    private static func found(_ node: YAMLNode) -> String {
        switch node.content {
        case .scalar("", isPlain: true): "nothing"
        case .scalar("", isPlain: false): "an empty text"
        case .scalar(let text, isPlain: true): "'\(YAMLNode.shown(text))'"
        case .scalar(let text, isPlain: false): "the text '\(YAMLNode.shown(text))'"
        case .sequence([]): "an empty list"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .invalid: "another value"
        }
    }
}

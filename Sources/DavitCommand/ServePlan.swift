internal import Davit
internal import DavitAccess
internal import DavitServer
internal import DavitSystem
internal import DavitYAML

/// Everything that a configuration file, the environment and the command line say together.
package struct ServePlan: Hashable, Sendable {
    /// A share and the settings that it was made from.
    struct PlannedShare: Hashable, Sendable {
        let path: String
        let options: ServeOptions
        let settings: [OptionSetting]
    }

    package private(set) var options: ServeOptions
    /// The settings that take effect, without those of single shares.
    let settings: [OptionSetting]
    /// The shares of the list `shares`.
    let shares: [PlannedShare]
    /// The file, and the files with passwords that it names.
    let files: [String]
    /// Where the rules of each share are in the file, by its path, which is empty for the only share.
    let rulePositions: [String: YAMLPosition]

    /// Reads the configuration file and the files with passwords that it names. Blocks.
    /// - Throws: ``CommandFailure/configuration(_:)`` with all mistakes, or ``CommandFailure/noYAML``.
    package init(_ sources: ServeSources) throws(CommandFailure) {
        guard let path = sources.file else { throw .other("no configuration file") }
        guard YAMLLibrary.isAvailable else { throw .noYAML }
        let content: SmallFile
        do throws(SystemError) {
            content = try SmallFile(reading: path, limitBytes: YAMLLimits.fileBytes)
        } catch {
            throw .configuration(["\(path): cannot read the file: \(error.description)"])
        }
        let reader = ConfigurationReader(content.bytes)
        var maker = PlanMaker(sources: sources, file: reader.file, problems: reader.problems)
        if reader.file.hasSecrets, !UserFile.isPrivate(mode: content.mode) {
            maker.report(
                nil,
                "the file contains passwords and is accessible to other users (expected mode 0600); use chmod "
                    + "600, or password-file")
        }
        maker.make()
        if !maker.problems.isEmpty {
            throw .configuration(ConfigurationProblem.lines(maker.problems, in: path))
        }
        options = maker.options
        settings = maker.settings
        shares = maker.shares
        rulePositions = Dictionary(
            ((reader.file.shares ?? []) + [reader.file.top]).map { ($0.path, $0.position) },
            uniquingKeysWith: { first, _ in first })
        files = [path] + (reader.file.users ?? []).compactMap(\.passwordFile)
        options.shares = shares.map { ServeOptions.PlacedShare(path: $0.path, options: $0.options) }
    }
}

/// Combines a file with the command line and the environment.
private struct PlanMaker {
    let sources: ServeSources
    let file: ConfigurationFile
    var problems: [ConfigurationProblem]
    var options = ServeOptions(folder: "")
    var settings: [OptionSetting] = []
    var shares: [ServePlan.PlannedShare] = []

    mutating func report(_ position: YAMLPosition?, _ message: String) {
        problems.append(ConfigurationProblem(position, message))
    }

    mutating func make() {
        let outside = [sources.environment, sources.commandLine]
        settings = OptionSetting.merged([file.settings] + outside)
        options = made(settings, of: file.top)
        options.unknownVariables = sources.unknownVariables
        addUsers()
        if let listed = file.shares {
            if sources.folder != nil { report(nil, "the file has 'shares': expected no FOLDER in addition") }
            if !options.database.servers.isEmpty {
                report(nil, "the file has 'shares': expected no 'database' in addition")
            }
            for share in listed {
                let merged = OptionSetting.merged([file.settings, share.settings] + outside)
                    .filter { $0.option.entry.scope == .share }
                shares.append(
                    .init(path: share.path, options: made(merged, of: share), settings: merged))
            }
            checkStateFolders(of: listed)
            for (share, planned) in zip(listed, shares)
            where options.isSandboxed && planned.options.uploadCheck.command != nil
                && options.uploadCheck.command == nil
            {
                let error = UsageError.conflict(
                    option: ServeOption.sandbox.rawValue, other: ServeOption.checkUploads.rawValue)
                report(share.position, ConfigurationReader.message(error))
            }
        } else {
            options.folder = sources.folder ?? file.top.folder ?? ""
            if options.folder.isEmpty, !file.namesFolder, options.database.servers.isEmpty {
                report(nil, "missing 'folder' or 'shares': expected a folder to share")
            }
        }
    }

    /// Checks that each share has a state folder of its own, as far as this is known before the folders are created.
    private mutating func checkStateFolders(of listed: [ConfigurationFile.FileShare]) {
        guard listed.count > 1 else { return }
        if let setting = settings.first(where: { $0.option == .stateDir }) {
            let expected = "expected in each share, because each needs a state folder of its own"
            switch setting.origin {
            case .file(let position): report(position, "\(setting.option.key): \(expected)")
            case .environment: report(nil, "\(setting.option.variable): \(expected)")
            case .commandLine: report(nil, "\(setting.option.rawValue): \(expected)")
            }
            return
        }
        var owners: [String: String] = [:]
        for (share, planned) in zip(listed, shares) where !planned.options.folder.isEmpty {
            guard let folder = Self.stateFolder(of: planned.options) else { continue }
            if let owner = owners[folder] {
                report(
                    share.position,
                    "state-dir: the shares \(YAMLNode.shown(owner)) and \(YAMLNode.shown(share.path)) have the same "
                        + "state folder \(YAMLNode.shown(folder))")
            } else {
                owners[folder] = share.path
            }
        }
    }

    /// Returns the state folder of a share, without links if it exists; nil if it is not known.
    private static func stateFolder(of options: ServeOptions) -> String? {
        if let given = options.stateFolder {
            return (try? ExclusiveFolder.canonical(given)) ?? given
        }
        guard let folder = try? ExclusiveFolder.canonical(options.folder) else { return nil }
        return try? StateFolderName.path(forShare: Array(folder.utf8), environment: Environment.variable)
    }

    /// Returns the options for settings and for the other content of a share.
    private mutating func made(
        _ settings: [OptionSetting], of share: ConfigurationFile.FileShare
    ) -> ServeOptions {
        var draft = ServeDraft()
        // Every setting was verified when it was read.
        do throws(UsageError) { try draft.apply(settings) } catch {
            report(nil, ConfigurationReader.message(error))
        }
        for error in draft.finish() {
            let position = Self.position(of: error, in: settings)
            report(position, ConfigurationReader.message(error))
        }
        var options = draft.options
        options.folder = share.folder ?? ""
        if let mounts = share.mounts, !settings.contains(where: { $0.option == .mount }) {
            options.mounts = mounts
        }
        options.groups = file.groups
        options.accessRules = share.rules
        if let rules = share.rules {
            do throws(AccessRules.Problem) { _ = try AccessRules(rules, groups: file.groups) } catch {
                switch error {
                case .duplicate(let rule):
                    report(share.position, "rules: two rules for \(rule.subject) in \(rule.path)")
                case .unknownGroup(let rule):
                    report(
                        share.position,
                        "rules: unknown \(rule.subject): expected a group of the list 'groups'")
                }
            }
        }
        return options
    }

    /// Returns the place of the option that an error names, if it is in the file.
    private static func position(of error: UsageError, in settings: [OptionSetting]) -> YAMLPosition? {
        let words = error.message.split(separator: " ").map(String.init)
        for setting in settings where words.contains(setting.option.rawValue) {
            if case .file(let position) = setting.origin { return position }
        }
        return nil
    }

    /// Adds the accounts, with the passwords of other files.
    private mutating func addUsers() {
        guard let users = file.users, !settings.contains(where: { $0.option == .user }) else { return }
        for user in users {
            var secret = user.password ?? user.hash ?? ""
            var isHash = user.hash != nil
            if let path = user.passwordFile {
                do throws(CommandFailure) { secret = try LDAPOptions.secret(in: path) } catch {
                    report(user.position, error.message)
                    continue
                }
                isHash = Accounts.isHash(secret)
            }
            var accounts = Accounts()
            do throws(Accounts.Problem) {
                if isHash {
                    try accounts.add(name: user.name, hash: secret)
                } else {
                    try accounts.add(name: user.name, password: secret)
                }
            } catch {
                report(user.position, "user '\(ConfigurationReader.shownName(user.name))': \(error.text)")
            }
            options.users.append(.init(name: user.name, password: secret, isHash: isHash))
        }
    }
}

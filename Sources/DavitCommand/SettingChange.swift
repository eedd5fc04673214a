internal import DavitAccess
internal import DavitEngine

/// A setting that differs between two plans.
struct SettingChange: Hashable, Sendable {
    /// The key, and for a setting of one share `PATH: KEY`.
    let name: String
    /// Nil if a value must not or cannot be shown.
    let values: (old: String, new: String)?
    let reload: OptionReload
    /// The part of a change that takes effect which needs a restart; nil for none.
    let exception: String?

    init(
        _ name: String, _ values: (old: String, new: String)?, _ reload: OptionReload,
        exception: String? = nil
    ) {
        self.name = name
        self.values = values
        self.reload = reload
        self.exception = exception
    }

    /// The user file, or a file with the password of an account, has another content.
    static let contentOfUserFile = SettingChange("content of user-file", nil, .takesEffect)

    /// `KEY: OLD -> NEW`.
    var difference: String { name + (values.map { ": \($0.old) -> \($0.new)" } ?? " changed") }

    /// The difference, with a note if a restart is needed.
    var text: String {
        switch reload {
        case .restart: difference + " (needs a restart)"
        case .takesEffect: difference + (exception.map { " (\($0) need a restart)" } ?? "")
        }
    }

    static func == (a: SettingChange, b: SettingChange) -> Bool {
        a.text == b.text && a.reload == b.reload
    }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The settings that this running server can change, in addition to those that every server can.
struct ReloadAbilities {
    /// Whether lines of level `access` can be turned on.
    let canLogAccess: Bool
    /// Whether the accounts can be replaced with the new ones.
    let canReplaceAccounts: Bool

    var ofAccounts: OptionReload { canReplaceAccounts ? .takesEffect : .restart }
}

extension ServePlan {
    /// Returns what differs from another plan, in the order of the help.
    func changes(to new: ServePlan, _ abilities: ReloadAbilities) -> [SettingChange] {
        var changes = Self.changes("", (settings, options), (new.settings, new.options), abilities)
        // Settings for all shares are compared as those of each share.
        if !shares.isEmpty, !new.shares.isEmpty {
            let shared = Set(
                ServeOption.allCases.filter { $0.entry.scope == .share }.map(\.key))
            changes.removeAll { shared.contains($0.name) }
        }
        if options.folder != new.options.folder {
            changes.append(.init("folder", (options.folder, new.options.folder), .restart))
        }
        if options.users != new.options.users, !changes.contains(where: { $0.name == "user" }) {
            changes.append(.init("users", nil, abilities.ofAccounts))
        }
        if options.groups != new.options.groups { changes.append(.init("groups", nil, .takesEffect)) }
        changes += Self.changes("", from: options, to: new.options)
        let olds = Dictionary(uniqueKeysWithValues: shares.map { ($0.path, $0) })
        for share in new.shares {
            guard let old = olds[share.path] else {
                changes.append(.init("share \(share.path)", ("none", share.options.folder), .restart))
                continue
            }
            // The common case, for speed.
            if old == share { continue }
            if old.options.folder != share.options.folder {
                changes.append(
                    .init("\(share.path): folder", (old.options.folder, share.options.folder), .restart))
            }
            changes += Self.changes(
                "\(share.path): ", (old.settings, old.options), (share.settings, share.options), abilities)
            changes += Self.changes("\(share.path): ", from: old.options, to: share.options)
        }
        let paths = Set(new.shares.map(\.path))
        changes += shares.filter { !paths.contains($0.path) }.map {
            .init("share \($0.path)", ($0.options.folder, "none"), .restart)
        }
        return changes
    }

    private static func changes(
        _ prefix: String, from old: ServeOptions, to new: ServeOptions
    ) -> [SettingChange] {
        var changes: [SettingChange] = []
        if old.mounts != new.mounts { changes.append(.init("\(prefix)mounts", nil, .restart)) }
        if old.accessRules != new.accessRules {
            let bothHaveRules = old.accessRules != nil && new.accessRules != nil
            changes.append(.init("\(prefix)rules", nil, bothHaveRules ? .takesEffect : .restart))
        }
        return changes
    }

    private static func changes(
        _ prefix: String, _ old: (settings: [OptionSetting], options: ServeOptions),
        _ new: (settings: [OptionSetting], options: ServeOptions), _ abilities: ReloadAbilities
    ) -> [SettingChange] {
        var changes: [SettingChange] = []
        let (olds, news) = (values(old.settings), values(new.settings))
        for option in ServeOption.allCases where olds[option] != news[option] && option != .mount {
            // A default that is written into the file changes nothing. Options of the trash also turn it on.
            let isSame =
                switch option {
                case .trash: (old.options.trash == nil) == (new.options.trash == nil)
                case .trashDays: old.options.trash?.days == new.options.trash?.days
                default: effective(option, olds[option]) == effective(option, news[option])
                }
            if isSame { continue }
            let values =
                option.entry.isSecret
                ? nil
                : (shown(option, olds[option], old.options), shown(option, news[option], new.options))
            var reload = option.entry.reload
            if option == .user || option == .userFile { reload = abilities.ofAccounts }
            let lacksLines =
                option == .logLevel && !abilities.canLogAccess
                && [.access, .verbose, .debug].contains(new.options.logLevel)
            changes.append(
                .init(
                    prefix + option.key, values, reload,
                    exception: lacksLines ? "lines of level access" : nil))
        }
        return changes
    }

    private static func values(_ settings: [OptionSetting]) -> [ServeOption: [String]] {
        Dictionary(grouping: settings, by: \.option).mapValues { $0.map(\.value) }
    }

    /// Returns the values of an option, or its default if the settings do not contain it; nil for neither.
    private static func effective(_ option: ServeOption, _ values: [String]?) -> [String]? {
        if let values { return values }
        return switch option.entry.standard {
        case .value(let text), .implied(let text): [text]
        case .none, .described: option.takesValue ? nil : ["false"]
        }
    }

    private static func shown(_ option: ServeOption, _ values: [String]?, _ options: ServeOptions) -> String {
        if values == nil, option == .trashDays, options.trash == nil { return "none" }
        return values?.joined(separator: ", ") ?? option.entry.standard.text
            ?? (option.takesValue ? "none" : "false")
    }
}

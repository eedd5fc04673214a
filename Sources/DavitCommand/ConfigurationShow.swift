internal import Davit
internal import DavitYAML

/// The text of `davit config show`: the settings that take effect, with their origins and without secrets.
struct ConfigurationShow {
    static let mask = "********"

    let plan: ServePlan
    let file: String

    var text: String {
        var text = ""
        if plan.shares.isEmpty { text += "folder: \(ConfigurationText.scalar(plan.options.folder))\n" }
        text += settings(plan.settings, indent: "")
        for option in ServeOption.allCases {
            guard case .value(let value) = option.entry.standard,
                !plan.settings.contains(where: { $0.option == option })
            else { continue }
            text += "\(option.key): \(ConfigurationText.scalar(value))  # default\n"
        }
        if !plan.settings.contains(where: { $0.option == .user }), !plan.options.users.isEmpty {
            text += "users:\n"
            for user in plan.options.users {
                text += "  - name: \(ConfigurationText.scalar(user.name))\n"
                text += "    \(user.isHash ? "hash" : "password"): \"\(Self.mask)\"\n"
            }
        }
        if !plan.options.groups.isEmpty { text += "groups:\n" }
        for (name, members) in plan.options.groups.sorted(by: { $0.key < $1.key }) {
            let names = members.sorted().map(ConfigurationText.scalar).joined(separator: ", ")
            text += "  \(ConfigurationText.scalar(name)): [\(names)]\n"
        }
        text += content(of: plan.options, indent: "")
        if !plan.shares.isEmpty { text += "shares:\n" }
        for share in plan.shares {
            text += "  - path: \(ConfigurationText.scalar(share.path))\n"
            text += "    folder: \(ConfigurationText.scalar(share.options.folder))\n"
            text += settings(share.settings, indent: "    ")
            text += content(of: share.options, indent: "    ")
        }
        return text
    }

    private func settings(_ settings: [OptionSetting], indent: String) -> String {
        var text = ""
        for option in ServeOption.allCases where option.entry.kind.hasPlainForm {
            let own = settings.filter { $0.option == option }
            guard let origin = own.first?.origin else { continue }
            let values = own.map { ConfigurationText.scalar($0.value) }
            let value = option.entry.isRepeatable ? "[\(values.joined(separator: ", "))]" : values[0]
            text += "\(indent)\(option.key): \(value)  # \(name(of: origin, option))\n"
        }
        return text
    }

    private func name(of origin: SettingOrigin, _ option: ServeOption) -> String {
        switch origin {
        case .commandLine: "command line"
        case .environment: option.variable
        case .file(let position): "\(file):\(position.line)"
        }
    }

    private func content(of options: ServeOptions, indent: String) -> String {
        var text = ""
        if !options.mounts.isEmpty { text += "\(indent)mounts:\n" }
        for mount in options.mounts {
            text += "\(indent)  - path: \(ConfigurationText.scalar(mount.path))\n"
            text += "\(indent)    folder: \(ConfigurationText.scalar(mount.folder))\n"
        }
        if let rules = options.accessRules {
            text += "\(indent)rules:" + (rules.isEmpty ? " []\n" : "\n")
            for rule in rules {
                text += "\(indent)  - who: \(ConfigurationText.scalar(rule.subject.description))\n"
                text += "\(indent)    path: \(ConfigurationText.scalar(rule.path.description))\n"
                text += "\(indent)    rights: \(ConfigurationText.scalar(rule.rights.description))\n"
            }
        }
        return text
    }
}

extension OptionKind {
    /// Whether the value in a file is that of the command line.
    var hasPlainForm: Bool {
        switch self {
        case .account, .mount: false
        default: true
        }
    }
}

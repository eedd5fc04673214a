internal import DavitYAML

/// The value of an option, and where it comes from.
package struct OptionSetting: Hashable, Sendable {
    let option: ServeOption
    /// As on the command line; `true` or `false` for an option without a value.
    let value: String
    let origin: SettingOrigin

    init(_ option: ServeOption, _ value: String, _ origin: SettingOrigin) {
        self.option = option
        self.value = value
        self.origin = origin
    }
}

/// Where a setting comes from.
enum SettingOrigin: Hashable, Sendable {
    case commandLine
    case environment
    case file(YAMLPosition)
}

/// Where `davit serve` gets its options from: the command line, the environment and a configuration file, in this order of
/// precedence.
package struct ServeSources: Hashable, Sendable {
    /// The configuration file; nil for none.
    package var file: String?
    /// The shared folder; nil if only the configuration file names it.
    package var folder: String?
    var commandLine: [OptionSetting] = []
    var environment: [OptionSetting] = []
    /// The names of environment variables that are not options.
    package private(set) var unknownVariables: [String] = []

    package init(file: String? = nil) { self.file = file }

    /// Returns the options without a configuration file.
    func options() throws(UsageError) -> ServeOptions {
        var draft = ServeDraft()
        try draft.apply(OptionSetting.merged([environment, commandLine]))
        draft.options.folder = folder ?? ""
        draft.options.unknownVariables = unknownVariables
        if let error = draft.finish().first { throw error }
        return draft.options
    }

    /// Reads the variables of the environment, and verifies each value.
    mutating func read(_ variables: [String: String]) throws(UsageError) {
        if variables.isEmpty { return }
        let options = Dictionary(uniqueKeysWithValues: ServeOption.allCases.map { ($0.variable, $0) })
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            if name == Self.folderVariable {
                folder = folder ?? value
            } else if let option = options[name] {
                if option == .config { file = file ?? value } else { try read(option, value) }
            } else if !Self.isForOthers(name) {
                unknownVariables.append(name)
            }
        }
    }

    static let folderVariable = "DAVIT_FOLDER"

    /// Variables of the test suite, of builds and of the systemd unit, which are not options.
    private static func isForOthers(_ name: String) -> Bool {
        ["DAVIT_TEST_", "DAVIT_KILL_", "DAVIT_FAIL_", "DAVIT_GUARD_", "DAVIT_FUZZ"].contains {
            name.hasPrefix($0)
        } || ["DAVIT_DEBUG", "DAVIT_SEED", "DAVIT_SESSION_BUS", "DAVIT_OPTIONS"].contains(name)
    }

    private mutating func read(_ option: ServeOption, _ value: String) throws(UsageError) {
        guard option.entry.kind.accepts(value) else {
            let found = option.entry.isSecret ? "" : ", found '\(value)'"
            throw .badVariable(
                option.variable, problem: "expected \(option.entry.kind.expected)\(found)")
        }
        // An account is not split, because a password can contain commas.
        let values =
            option.entry.isRepeatable && !option.entry.isSecret
            ? value.split(separator: ",").map(String.init) : [value]
        let settings = values.map { OptionSetting(option, $0, .environment) }
        var draft = ServeDraft()
        do throws(UsageError) { try draft.apply(settings) } catch {
            throw .badVariable(option.variable, problem: error.message)
        }
        environment += settings
    }

    /// Returns a warning for each unknown variable.
    package static func warnings(for unknown: [String]) -> [String] {
        if unknown.isEmpty { return [] }
        let known = ServeOption.allCases.map(\.variable) + [folderVariable]
        return unknown.map { name in
            let nearest = Arguments.nearest(to: name, in: known).map { "; did you mean \($0)?" } ?? ""
            return "unknown environment variable \(YAMLNode.shown(name))\(nearest)"
        }
    }
}

extension OptionSetting {
    /// Returns the settings that take effect: those of the last layer that has the option, so that an option with several
    /// values is replaced as a whole.
    static func merged(_ layers: [[OptionSetting]]) -> [OptionSetting] {
        var merged: [OptionSetting] = []
        for (index, layer) in layers.enumerated() {
            let later = Set(layers[(index + 1)...].joined().map(\.option))
            merged += layer.filter { !later.contains($0.option) }
        }
        return merged
    }
}

/// Options of `davit serve` that are being put together.
struct ServeDraft {
    var options = ServeOptions(folder: "")
    private var hosts: [String] = []
    private var acme = Arguments.ACMEValues()
    private var ldap = Arguments.LDAPValues()
    private var oidc = Arguments.OIDCValues()
    /// The options that are set, without those that are turned off.
    private var given: Set<ServeOption> = []
    /// Whether limits of the trash turn it on.
    private var hasTrash = true

    /// Adds settings. An option without a value has no effect if it is `false`.
    mutating func apply(_ settings: [OptionSetting]) throws(UsageError) {
        for setting in settings {
            if !setting.option.takesValue, setting.value != "true" {
                if setting.option == .trash { hasTrash = false }
                continue
            }
            given.insert(setting.option)
            try Arguments.apply(setting.option, setting.value, &options, &hosts, &acme, &ldap, &oidc)
        }
    }

    /// Completes the options, and returns the errors in combinations of them.
    mutating func finish() -> [UsageError] {
        if !hosts.isEmpty {
            options.hosts = hosts
            options.listensByDefault = false
        }
        if !hasTrash { options.trash = nil }
        var errors: [UsageError] = []
        // Bans of 'davit ban' have their own duration.
        if given.contains(.banMinutes), !given.contains(.banAfter) {
            errors.append(
                .useless(option: ServeOption.banMinutes.rawValue, without: ServeOption.banAfter.rawValue))
        }
        do throws(UsageError) { try Arguments.checkDeployment(&options) } catch { errors.append(error) }
        do throws(UsageError) { options.tls.acme = try acme.options() } catch { errors.append(error) }
        do throws(UsageError) { try options.tls.check() } catch { errors.append(error) }
        do throws(UsageError) { options.ldap = try ldap.options() } catch { errors.append(error) }
        do throws(UsageError) { options.oidc = try oidc.options(with: options) } catch {
            errors.append(error)
        }
        do throws(UsageError) { try options.pam.check() } catch { errors.append(error) }
        do throws(UsageError) { try options.checkPrivileges() } catch { errors.append(error) }
        return errors
    }
}

internal import DavitSystem

/// The arguments of `davit config`.
package struct ConfigOptions: Hashable, Sendable {
    package enum Action: String, CaseIterable, Sendable {
        case check, show, defaults, schema
    }

    package var action: Action
    /// The configuration file, with the environment; without a file for `defaults` and `schema`.
    package var sources: ServeSources
}

extension Arguments {
    mutating func config() throws(UsageError) -> Invocation {
        var settings: [OptionSetting] = []
        var draft = ServeDraft()
        let words = try others { (arguments, word) throws(UsageError) in
            let setting = try arguments.setting(word)
            if setting.option == .config {
                throw .useless(option: word, without: "'davit serve': give FILE without an option")
            }
            try draft.apply([setting])
            settings.append(setting)
        }
        guard var words = words?[...] else { return .help(.config) }
        guard let name = words.popFirst() else { throw .missingAction }
        guard let action = ConfigOptions.Action(rawValue: name) else {
            throw Self.unknownAction(
                name, of: .config, in: ConfigOptions.Action.allCases.map(\.rawValue))
        }
        var sources = ServeSources()
        if action == .check || action == .show {
            guard let file = words.popFirst() else { throw .missingArgument("FILE") }
            try sources.read(environment)
            // The file on the command line takes precedence over DAVIT_CONFIG.
            sources.file = file
            sources.commandLine = settings
        } else if let setting = settings.first {
            throw .useless(
                option: setting.option.rawValue, without: "'davit config check' and 'davit config show'")
        }
        if let more = words.first { throw .unexpectedArgument(more) }
        return .config(ConfigOptions(action: action, sources: sources))
    }
}

/// `davit config`: checks and shows configuration files.
package struct ConfigCommand {
    package let options: ConfigOptions

    package init(options: ConfigOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try output()) }

    /// Returns the text for standard output. Blocks.
    /// - Throws: ``CommandFailure``, including ``CommandFailure/configuration(_:)`` for a file with mistakes.
    package func output() throws(CommandFailure) -> String {
        switch options.action {
        case .defaults: return ConfigurationDefaults.text
        case .schema: return ConfigurationSchema.text
        case .check:
            let file = options.sources.file ?? ""
            let command = try ServeCommand(sources: options.sources)
            let problems = command.problems()
            if !problems.isEmpty { throw .configuration(ConfigurationProblem.lines(problems, in: file)) }
            let warnings = command.unknownUsers().map {
                ConfigurationProblem($0.position, "warning: \($0.message)")
            }
            let lines = ConfigurationProblem.lines(warnings, in: file) + ["\(file) is valid"]
            return lines.map { $0 + "\n" }.joined()
        case .show:
            return ConfigurationShow(
                plan: try ServePlan(options.sources), file: options.sources.file ?? ""
            ).text
        }
    }
}

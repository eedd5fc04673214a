internal import DavitSystem

/// The arguments of `davit config`.
package struct ConfigOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case check, show, defaults, schema
    }

    static let actions: [(name: String, action: Action)] = [
        ("check", .check), ("show", .show), ("defaults", .defaults), ("schema", .schema),
    ]

    package var action: Action
    /// The configuration file, with the environment; without a file for `defaults` and `schema`.
    package var sources: ServeSources
}

extension Arguments {
    mutating func config() throws(UsageError) -> Invocation {
        let words = try others { (_, word) throws(UsageError) in
            throw .unknownOption(word, nearest: Self.nearest(to: word, in: ["--help"]))
        }
        guard let words, let first = words.first else { return .help(.config) }
        let names = ConfigOptions.actions.map(\.name)
        guard let action = ConfigOptions.actions.first(where: { $0.name == first })?.action else {
            throw .unknownCommand(
                "config \(first)", nearest: Self.nearest(to: first, in: names).map { "config \($0)" })
        }
        let needsFile = action == .check || action == .show
        if needsFile, words.count < 2 { throw .missingArgument("FILE") }
        if let more = words.dropFirst(needsFile ? 2 : 1).first { throw .moreThanOneFolder(more) }
        var sources = ServeSources()
        if needsFile { try sources.read(environment) }
        // The file on the command line takes precedence over DAVIT_CONFIG.
        sources.file = needsFile ? words[1] : nil
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
            _ = try ServeCommand(options: try ServePlan(options.sources).options).accounts()
            return "\(options.sources.file ?? "") is valid\n"
        case .show:
            return ConfigurationShow(
                plan: try ServePlan(options.sources), file: options.sources.file ?? ""
            ).text
        }
    }
}

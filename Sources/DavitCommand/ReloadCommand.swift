internal import DavitControl
internal import DavitSystem

/// The arguments of `davit reload`.
package struct ReloadOptions: Hashable, Sendable {
    /// The shared folder; nil with a configuration file.
    package var folder: String?
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?
    /// The configuration file of the server; without a file, only the environment.
    package var sources: ServeSources
}

extension Arguments {
    mutating func reload() throws(UsageError) -> Invocation {
        var sources = ServeSources()
        var stateFolder: String?
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            let known: [ServeOption] = [.config, .stateDir]
            guard let option = known.first(where: { $0.rawValue == name }) else {
                let names = known.map(\.rawValue) + ["--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: names))
            }
            let text = try arguments.value(of: name, behindSign: value)
            if option == .config { sources.file = text } else { stateFolder = text }
        }
        guard let words else { return .help(.reload) }
        let folder = try Self.only(words, isRequired: false)
        if folder == nil {
            try sources.read(environment)
            if sources.file == nil, sources.folder == nil { throw .missingFolder }
        }
        return .reload(ReloadOptions(folder: folder, stateFolder: stateFolder, sources: sources))
    }
}

/// `davit reload`: asks the running server to read its settings again.
package struct ReloadCommand {
    package let options: ReloadOptions

    package init(options: ReloadOptions) { self.options = options }

    /// Prints what has changed. Blocks.
    func run() throws(CommandFailure) {
        let changes = try changes()
        StandardStreams.writeOutput(
            changes.isEmpty ? "no settings have changed\n" : changes.map { $0 + "\n" }.joined())
    }

    /// Makes the server reload its settings, and returns what has changed. Blocks.
    package func changes() throws(CommandFailure) -> [String] {
        let report = ReloadReport(lines: try answer())
        guard report.errors.isEmpty else { throw .notReloaded(report.errors) }
        return report.changes
    }

    /// Asks the server through the first of its shares that answers: a share that the file has only had since the server
    /// started has no state, or no server that uses it.
    /// - Throws: the failure of the first share if none answers.
    private func answer() throws(CommandFailure) -> [String] {
        var failure: CommandFailure?
        for (folder, stateFolder) in try places() {
            do throws(CommandFailure) {
                return try StateAccess(folder: folder, stateFolder: stateFolder).perform {
                    (server) throws(CommandFailure) in
                    try server.ask(.reload)
                } alone: { (_) throws(CommandFailure) in
                    throw .other("no server is running for \(folder)")
                }
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? .other("no server is running")
    }

    /// Returns the folders of the shares of the server, and their state folders.
    private func places() throws(CommandFailure) -> [(folder: String, stateFolder: String?)] {
        let sources = options.sources
        if let folder = options.folder { return [(folder, options.stateFolder)] }
        if sources.file == nil, let folder = sources.folder {
            let variable = sources.environment.last { $0.option == .stateDir }?.value
            return [(folder, options.stateFolder ?? variable)]
        }
        let plan = try ServePlan(sources)
        return plan.placedOptions.map { ($0.options.folder, options.stateFolder ?? $0.options.stateFolder) }
    }
}

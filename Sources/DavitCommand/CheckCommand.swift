internal import DavitControl
internal import DavitFileStore
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// The arguments of `davit check`.
package struct CheckOptions: Hashable, Sendable {
    /// The shared folder, as given on the command line; empty for a database.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?
    /// The database to check instead of a folder; without a share, all of them.
    package var database = DatabaseOptions()
    /// Whether the content of each object in the store of the database is compared with its digest.
    package var comparesContent = false

    package init(folder: String, stateFolder: String? = nil) {
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension Arguments {
    /// Parses `FOLDER`, or `--database URL --blobs PLACE`.
    mutating func check() throws(UsageError) -> Invocation {
        var options = CheckOptions(folder: "")
        let folders = try others { (arguments, word) throws(UsageError) in
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case "--content":
                if behindSign != nil { throw .unwantedValue(option: name) }
                options.comparesContent = true
            case ServeOption.stateDir.rawValue: options.stateFolder = try arguments.stateFolder(word)
            default:
                try arguments.addDatabaseOption(
                    word, to: &options.database, others: ["--content", ServeOption.stateDir.rawValue])
            }
        }
        guard let folders else { return .help(.check) }
        options.folder = try Self.only(folders, isRequired: options.database.servers.isEmpty) ?? ""
        let option = ServeOption.database.rawValue
        if options.database.servers.isEmpty {
            let useless = [
                (ServeOption.blobs.rawValue, options.database.blobs != nil),
                (ServeOption.share.rawValue, options.database.share != nil),
                ("--content", options.comparesContent),
            ]
            for (other, isGiven) in useless where isGiven { throw .useless(option: other, without: option) }
        } else {
            if !options.folder.isEmpty { throw .conflict(option: option, other: "FOLDER") }
            if options.stateFolder != nil {
                throw .conflict(option: option, other: ServeOption.stateDir.rawValue)
            }
            if options.database.blobs == nil {
                throw .incomplete(option: option, needs: ServeOption.blobs.rawValue)
            }
        }
        return .check(options)
    }

    /// Parses `--database`, `--blobs` or `--share`.
    /// - Parameter others: the other options of the command, to suggest one of them.
    mutating func addDatabaseOption(
        _ word: String, to options: inout DatabaseOptions, others: [String]
    ) throws(UsageError) {
        let (name, behindSign) = Self.parts(of: word)
        switch name {
        case ServeOption.database.rawValue:
            try options.add(server: try value(of: name, behindSign: behindSign))
        case ServeOption.blobs.rawValue: options.blobs = try value(of: name, behindSign: behindSign)
        case ServeOption.share.rawValue: options.share = try value(of: name, behindSign: behindSign)
        default:
            let known = [ServeOption.database, .blobs, .share].map(\.rawValue) + others + ["--help"]
            throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
        }
    }
}

/// `davit check`: verifies the state of a share, directly or through the server that owns it, and lists names
/// that some clients cannot use.
package struct CheckCommand {
    /// The share, the errors in its state, and the names that cause problems.
    package struct Report: Hashable, Sendable {
        package var share: String
        package var stateFolder: String
        package var findings: [String]
        /// One line for each problem with a name that some clients cannot use, and for each folder that
        /// cannot be listed. Such names are valid on this system and are not errors.
        package var names: [String]
        /// The number of lines that were omitted because of the limit.
        package var unlistedNames: Int

        package init(
            share: String, stateFolder: String, findings: [String], names: [String] = [],
            unlistedNames: Int = 0
        ) {
            self.share = share
            self.stateFolder = stateFolder
            self.findings = findings
            self.names = names
            self.unlistedNames = unlistedNames
        }

        /// The text for standard output.
        package var text: String {
            var text = "state of \(share): \(findings.isEmpty ? "ok" : "damaged")\n"
            for finding in findings { text += "  \(finding)\n" }
            if names.isEmpty { return text }
            text += "names in \(share) that some clients cannot use:\n"
            for name in names { text += "  \(name)\n" }
            if unlistedNames > 0 { text += "  and \(unlistedNames) more\n" }
            return text
        }
    }

    package let options: CheckOptions

    package init(options: CheckOptions) { self.options = options }

    /// Prints the report. Blocks.
    /// - Throws: ``CommandFailure``, including when the state is damaged.
    func run() throws(CommandFailure) {
        if !options.database.servers.isEmpty { return try checkDatabase() }
        let report = try report()
        StandardStreams.writeOutput(report.text)
        guard report.findings.isEmpty else { throw .stateDamaged(report.stateFolder) }
    }

    /// Runs the check. Blocks.
    package func report() throws(CommandFailure) -> Report {
        let state = try StateAccess(folder: options.folder, stateFolder: options.stateFolder)
        let findings = try state.perform { (server) throws(CommandFailure) in
            try server.ask(.check)
        } alone: { (store) throws(CommandFailure) in
            do throws(StateError) { return try store.integrityCheck() } catch {
                throw .stateUnreadable(state.path, reason: error.text)
            }
        }
        let survey = NameCheck(state.resources)
        return Report(
            share: state.resources.rootPath, stateFolder: state.path, findings: findings,
            names: survey.lines, unlistedNames: survey.unlisted)
    }
}

internal import DavitControl
internal import DavitFileStore
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// The arguments of `davit check`.
package struct CheckOptions: Hashable, Sendable {
    /// The shared folder, as given on the command line.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(folder: String, stateFolder: String? = nil) {
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension Arguments {
    mutating func check() throws(UsageError) -> Invocation {
        var options = CheckOptions(folder: "")
        let folder = try folder { (arguments, word) throws(UsageError) in
            options.stateFolder = try arguments.stateFolder(word)
        }
        guard let folder else { return .help(.check) }
        options.folder = folder
        return .check(options)
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

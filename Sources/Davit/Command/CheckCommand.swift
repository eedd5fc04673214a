internal import DavitFileStore
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// `davit check`: looks whether the state of a share is sound, itself or through the server that owns the state, and
/// for names that some clients cannot use.
package struct CheckCommand {
    /// The name of the share, what is wrong with its state, and which names make trouble, a line each.
    package struct Report: Hashable, Sendable {
        package var share: String
        package var stateFolder: String
        package var findings: [String]
        /// No damage: the names are as good as any on this system.
        package var names: [String]
        /// Names over the limit of what is listed.
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
            var text = "state of \(share): \(findings.isEmpty ? "sound" : "damaged")\n"
            for finding in findings { text += "  \(finding)\n" }
            if names.isEmpty { return text }
            text += "names in \(share) that some clients cannot use:\n"
            for name in names { text += "  \(name)\n" }
            if unlistedNames > 0 { text += "  and \(unlistedNames) more\n" }
            return text
        }
    }

    /// The database in the state folder.
    private static let fileName = "state.sqlite"
    /// A server that ends lets go of the folder between the two questions.
    private static let attempts = 3

    package let options: CheckOptions

    package init(options: CheckOptions) { self.options = options }

    /// Prints what is found. Blocks.
    /// - Throws: also if something is wrong with the state.
    func run() throws(Failure) {
        let report = try report()
        StandardStreams.writeOutput(report.text)
        guard report.findings.isEmpty else { throw .stateDamaged(report.stateFolder) }
    }

    /// Checks. Blocks.
    package func report() throws(Failure) -> Report {
        let (resources, path) = try places()
        let share = resources.rootPath
        try checkExistence(path, share: share)
        let findings = try findings(path)
        let survey = NameSurvey(resources)
        return Report(
            share: share, stateFolder: path, findings: findings, names: survey.lines,
            unlistedNames: survey.unlisted)
    }

    private func places() throws(Failure) -> (share: FileResourceStore, state: String) {
        do throws(ServerError) {
            let resources: FileResourceStore
            do throws(FileResourceStore.RootError) {
                resources = try FileResourceStore(root: options.folder)
            } catch {
                throw .shareNotUsable(path: options.folder, error)
            }
            return (resources, try StateFolder.path(options.stateFolder, share: resources))
        } catch {
            throw Failure(error, folder: options.folder)
        }
    }

    /// A check makes nothing, neither folder nor database.
    private func checkExistence(_ path: String, share: String) throws(Failure) {
        do throws(SystemError) {
            _ = try OwnedFolder.canonical(path + "/" + Self.fileName)
        } catch {
            switch error.code {
            case .noEntry, .notDirectory: throw .noState(path, share: share)
            default: throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    private func findings(_ path: String) throws(Failure) -> [String] {
        var owner: Int32?
        for _ in 0..<Self.attempts {
            switch try Self.own(path) {
            // Held until the check is over, so that no server starts meanwhile.
            case .owned(let folder): return try Self.check(folder)
            case .held(let process): owner = process
            }
            if let findings = try Self.ask(path, owner: owner) { return findings }
        }
        throw .serverSilent(path, process: owner ?? 0, reason: "it takes no questions")
    }

    private enum Ownership {
        case owned(OwnedFolder)
        case held(byProcess: Int32?)
    }

    private static func own(_ path: String) throws(Failure) -> Ownership {
        do throws(OwnedFolder.Failure) {
            return .owned(try OwnedFolder(path: path))
        } catch {
            switch error {
            case .held(let process): return .held(byProcess: process)
            case .notUsable(let error): throw .stateFolderNotWritable(path, reason: error.description)
            }
        }
    }

    private static func check(_ folder: OwnedFolder) throws(Failure) -> [String] {
        // An object lives as long as it is used; the lock shall be held until the end.
        defer { withExtendedLifetime(folder) {} }
        do throws(StateError) {
            return try SQLiteStateStore(folder: folder.path).integrityCheck()
        } catch {
            throw .stateUnreadable(folder.path, reason: error.text)
        }
    }

    /// Nil if nobody is there to ask.
    private static func ask(_ path: String, owner: Int32?) throws(Failure) -> [String]? {
        let reason: String
        do throws(ControlClient.Problem) {
            switch try ControlClient.ask(.check, in: path) {
            case .lines(let lines): return lines
            case .refused(let why): reason = why
            }
        } catch {
            switch error {
            case .nobodyListens: return nil
            case .cutOff: reason = "it ended before it answered"
            case .malformed: reason = "its answer cannot be understood"
            case .failed(let why): reason = why
            }
        }
        throw .serverSilent(path, process: owner ?? 0, reason: reason)
    }
}

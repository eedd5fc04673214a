internal import DavitFileStore
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem

/// `davit check`: looks whether the state of a share is sound, itself or through the server that owns the state.
package struct CheckCommand {
    /// The name of the share, and what is wrong with its state, a line each.
    package struct Report: Hashable, Sendable {
        package var share: String
        package var stateFolder: String
        package var findings: [String]

        package init(share: String, stateFolder: String, findings: [String]) {
            self.share = share
            self.stateFolder = stateFolder
            self.findings = findings
        }

        /// The text for standard output.
        package var text: String {
            if findings.isEmpty { return "state of \(share): sound\n" }
            return findings.reduce("state of \(share): damaged\n") { $0 + "  \($1)\n" }
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
        let (share, path) = try places()
        try checkExistence(path, share: share)
        return Report(share: share, stateFolder: path, findings: try findings(path))
    }

    private func places() throws(Failure) -> (share: String, state: String) {
        do throws(ServerError) {
            let resources: FileResourceStore
            do throws(FileResourceStore.RootError) {
                resources = try FileResourceStore(root: options.folder)
            } catch {
                throw .shareNotUsable(path: options.folder, error)
            }
            return (resources.rootPath, try StateFolder.path(options.stateFolder, share: resources))
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

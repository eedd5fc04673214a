internal import Davit
package import DavitControl
internal import DavitFileStore
internal import DavitSystem

/// The arguments of `davit status`.
package struct StatusOptions: Hashable, Sendable {
    /// The shared folder, as given on the command line; nil if the state folder is given instead.
    package var folder: String?
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(folder: String?, stateFolder: String? = nil) {
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension Arguments {
    /// Parses `FOLDER`, `--state-dir FOLDER`, or both.
    mutating func status() throws(UsageError) -> Invocation {
        var stateFolder: String?
        let folders = try others { (arguments, word) throws(UsageError) in
            stateFolder = try arguments.stateFolder(word)
        }
        guard let folders else { return .help(.status) }
        if folders.count > 1 { throw .unexpectedArgument(folders[1]) }
        let folder = folders.first
        if folder?.isEmpty ?? (stateFolder == nil) { throw .missingFolder }
        return .status(StatusOptions(folder: folder, stateFolder: stateFolder))
    }
}

/// `davit status`: prints the health of the server of a share. Opens nothing in the state folder except the socket of the
/// server, so that it never competes with a server that is starting.
package struct StatusCommand {
    /// How long the server may take: it waits at most a second for its event loops.
    private static let timeoutSeconds = 10

    package let options: StatusOptions

    package init(options: StatusOptions) { self.options = options }

    /// Prints the status. Blocks.
    /// - Throws: ``CommandFailure``, including when the server is not ready.
    func run() throws(CommandFailure) {
        let lines = try lines()
        StandardStreams.writeOutput(Self.text(of: lines))
        let failed = lines.filter { if case .check(_, let problem) = $0 { problem != nil } else { false } }
        if !failed.isEmpty { throw .notReady(failedChecks: failed.count) }
    }

    /// Asks the server. Blocks.
    package func lines() throws(CommandFailure) -> [StatusLine] {
        let path = try stateFolder()
        let response: ControlResponse
        do throws(ControlClient.Problem) {
            response = try ControlClient.ask(.status, in: path, timeoutSeconds: Self.timeoutSeconds)
        } catch {
            switch error {
            case .notListening: throw .noServer(path)
            case .disconnected: throw .serverSilent(path, process: 0, reason: "the connection was closed")
            case .malformed: throw .serverSilent(path, process: 0, reason: "invalid response")
            case .failed(let reason): throw .serverSilent(path, process: 0, reason: reason)
            }
        }
        switch response {
        case .refused(let reason): throw .serverSilent(path, process: 0, reason: reason)
        case .lines(let texts):
            var lines: [StatusLine] = []
            for text in texts {
                guard let line = StatusLine(line: text) else {
                    throw .serverSilent(path, process: 0, reason: "invalid response")
                }
                lines.append(line)
            }
            return lines
        }
    }

    private func stateFolder() throws(CommandFailure) -> String {
        if let given = options.stateFolder { return given }
        let folder = options.folder ?? ""
        let share: FileResourceReader
        do throws(FileResourceStore.RootError) { share = try FileResourceReader(root: folder) } catch {
            throw CommandFailure(.shareNotUsable(path: folder, error), folder: folder)
        }
        do throws(ServerError) { return try StateFolder.path(nil, share: share) } catch {
            throw CommandFailure(error, folder: folder)
        }
    }

    /// The text for standard output.
    package static func text(of lines: [StatusLine]) -> String {
        var (checks, values) = ("", "")
        var isReady = true
        for line in lines {
            switch line {
            case .check(let name, nil): checks += "  \(shown(name)): ok\n"
            case .check(let name, let problem?):
                isReady = false
                checks += "  \(shown(name)): failed: \(shown(problem))\n"
            case .value(let name, let text): values += "\(shown(name)): \(shown(text))\n"
            }
        }
        return (isReady ? "ready\n" : "not ready\n") + checks + values
    }

    private static func shown(_ text: String) -> String { NameCheck.shown(Array(text.utf8)) }
}

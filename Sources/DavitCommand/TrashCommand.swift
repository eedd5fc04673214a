internal import DavitControl
internal import DavitHTTP
internal import DavitSystem

/// The arguments of `davit trash`.
package struct TrashOptions: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        case list
        /// IDs, or original paths in the share; a path selects the most recently deleted entry with that path.
        case restore([String])
        case empty(olderThanDays: Int)
    }

    static let actions = ["list", "restore", "empty"]
    static let olderThan = "--older-than"

    package var action: Action
    /// The shared folder, as given on the command line.
    package var folder: String
    /// The state folder; nil for the default, which depends on the shared folder.
    package var stateFolder: String?

    package init(action: Action, folder: String, stateFolder: String? = nil) {
        self.action = action
        self.folder = folder
        self.stateFolder = stateFolder
    }
}

extension Arguments {
    private static let stateDir = ServeOption.stateDir.rawValue

    mutating func trash() throws(UsageError) -> Invocation {
        var options = TrashOptions(action: .list, folder: "")
        var days: Int?
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case Self.stateDir: options.stateFolder = try arguments.value(of: name, behindSign: value)
            case TrashOptions.olderThan:
                days = try Self.number(
                    arguments.value(of: name, behindSign: value), option: name, in: 0...36_500)
            default:
                let known = [Self.stateDir, TrashOptions.olderThan, "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard var rest = words?[...] else { return .help(.trash) }
        let (action, folder) = try Self.actionAndFolder(of: .trash, &rest, in: TrashOptions.actions)
        options.folder = folder
        if action != "empty", days != nil {
            throw .useless(option: TrashOptions.olderThan, without: "'davit trash empty'")
        }
        switch action {
        case "restore":
            if rest.isEmpty || rest.contains("") { throw .missingTrash }
            options.action = .restore(Array(rest))
            return .trash(options)
        case "empty": options.action = .empty(olderThanDays: days ?? 0)
        default: options.action = .list
        }
        if let word = rest.first { throw .unexpectedArgument(word) }
        return .trash(options)
    }
}

/// `davit trash`: lists, restores or permanently deletes the entries in the trash of a share, directly or
/// through the server that owns the state.
package struct TrashCommand {
    package let options: TrashOptions

    package init(options: TrashOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try report()) }

    /// Runs the command and returns the text for standard output. Blocks.
    /// - Throws: ``CommandFailure``, including when some entries could not be restored.
    package func report() throws(CommandFailure) -> String {
        let options = options
        return try ShareAccessFactory.open(options.folder, stateFolder: options.stateFolder).ask {
            (ask) throws(CommandFailure) in try Self.report(options, ask)
        }
    }

    /// - Parameter ask: sends a request; returns nil if the server no longer listens.
    private static func report(
        _ options: TrashOptions, _ ask: (ControlRequest) throws(CommandFailure) -> [String]?
    ) throws(CommandFailure) -> String? {
        switch options.action {
        case .list: return try entries(ask).map { TrashTable($0, folder: options.folder).text }
        case .restore(let names): return try restore(names, ask)
        case .empty(let days):
            guard let count = try ask(.emptyTrash(olderThanDays: days))?.first else { return nil }
            return count == "1" ? "deleted 1 entry\n" : "deleted \(count) entries\n"
        }
    }

    /// Returns all entries, oldest first.
    private static func entries(
        _ ask: (ControlRequest) throws(CommandFailure) -> [String]?
    ) throws(CommandFailure) -> [TrashLine]? {
        var entries: [TrashLine] = []
        while true {
            guard let lines = try ask(.trash(after: entries.last?.number ?? 0)) else { return nil }
            if lines.isEmpty { return entries }
            for line in lines {
                guard let entry = TrashLine(parsing: line) else {
                    throw .other("invalid response; the server may be another version of davit")
                }
                entries.append(entry)
            }
        }
    }

    private static func restore(
        _ names: [String], _ ask: (ControlRequest) throws(CommandFailure) -> [String]?
    ) throws(CommandFailure) -> String? {
        guard let entries = try entries(ask) else { return nil }
        var (done, problems): ([String], [String]) = ([], [])
        for name in names {
            guard let entry = entry(name, in: entries) else {
                problems.append("\(name) is not in the trash")
                continue
            }
            let shown = NameCheck.shown(entry.path.bytes)
            guard let line = try ask(.restore(id: entry.id))?.first else { return nil }
            switch TrashLine.Restored(parsing: line) {
            case .at(let path) where path == entry.path: done.append("restored /\(shown)\n")
            case .at(let path): done.append("restored /\(shown) as /\(NameCheck.shown(path.bytes))\n")
            case .refused(let reason): problems.append("cannot restore /\(shown): \(reason)")
            case nil: problems.append("invalid response; the server may be another version of davit")
            }
        }
        if problems.isEmpty { return done.joined() }
        // Print the successful part before failing.
        StandardStreams.writeOutput(done.joined())
        throw .other(problems.joined(separator: "\n       "))
    }

    /// Returns the entry with the ID `name`, or the most recently deleted entry with the path `name`.
    private static func entry(_ name: String, in entries: [TrashLine]) -> TrashLine? {
        if let entry = entries.first(where: { $0.id == name }) { return entry }
        guard let path = ResourcePath(segments: name.utf8.split(separator: UInt8(ascii: "/"))) else {
            return nil
        }
        return entries.last { $0.path == path }
    }
}

/// The entries of a trash as an aligned table, newest first.
struct TrashTable {
    private static let heads = ["ID", "DELETED (UTC)", "BYTES", "REASON", "ACCOUNT", "PATH"]
    /// The index of the right-aligned column.
    private static let number = 2

    let text: String

    /// - Parameters:
    ///   - entries: the entries, oldest first.
    ///   - folder: the shared folder, as given on the command line.
    init(_ entries: [TrashLine], folder: String) {
        if entries.isEmpty {
            text = "the trash of \(folder) is empty\n"
            return
        }
        let rows = [Self.heads] + entries.reversed().map(Self.row)
        let widths = Self.heads.indices.map { column in
            rows.reduce(0) { max($0, $1[column].unicodeScalars.count) }
        }
        text = rows.reduce(into: "") { text, row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.unicodeScalars.count)
                let isLast = column == row.count - 1
                line += column == Self.number ? space + cell : isLast ? cell : cell + space
                if !isLast { line += "  " }
            }
            text += line + "\n"
        }
    }

    private static func row(_ entry: TrashLine) -> [String] {
        let time = String(decoding: HTTPDate.iso8601(Timestamp(seconds: entry.deleted)), as: UTF8.self)
        let shown = NameCheck.shown(entry.path.bytes)
        return [
            entry.id, String(time.prefix(16)).replacing("T", with: " "),
            entry.length.map { "\($0)" } ?? "?", entry.isOverwritten ? "overwritten" : "deleted",
            entry.principal.map { NameCheck.shown(Array($0.utf8)) } ?? "-",
            "/\(shown)\(entry.isCollection ? "/" : "")",
        ]
    }
}

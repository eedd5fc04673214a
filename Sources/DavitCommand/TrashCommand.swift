internal import DavitControl
internal import DavitHTTP
internal import DavitSystem

/// `davit trash`: lists, restores or permanently deletes the entries in the trash of a share, directly or
/// through the server that owns the state.
package struct TrashCommand {
    package let options: TrashOptions

    package init(options: TrashOptions) { self.options = options }

    /// Prints the result. Blocks.
    func run() throws(CommandFailure) { StandardStreams.writeOutput(try report()) }

    /// Runs the command and returns the text for standard output. Blocks.
    /// - Throws: ``CommandFailure``, including when only a part was done.
    package func report() throws(CommandFailure) -> String {
        let options = options
        return try StateAccess(folder: options.folder, stateFolder: options.stateFolder).ask {
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

    /// Returns the entry with the ID `name`, or the last one deleted at the path `name`.
    private static func entry(_ name: String, in entries: [TrashLine]) -> TrashLine? {
        if let entry = entries.first(where: { $0.id == name }) { return entry }
        guard let path = ResourcePath(segments: name.utf8.split(separator: UInt8(ascii: "/"))) else {
            return nil
        }
        return entries.last { $0.path == path }
    }
}

internal import DavitHTTP
internal import DavitSystem

/// `davit trash`: lists, restores and empties what a share keeps of what clients have deleted, itself or through the
/// server that owns the state.
package struct TrashCommand {
    package let options: TrashOptions

    package init(options: TrashOptions) { self.options = options }

    /// Prints what was done. Blocks.
    func run() throws(Failure) { StandardStreams.writeOutput(try report()) }

    /// Does it, and returns the text for standard output. Blocks.
    /// - Throws: also if only a part of it was done.
    package func report() throws(Failure) -> String {
        let options = options
        return try StateAccess(folder: options.folder, stateFolder: options.stateFolder).ask {
            (ask) throws(Failure) in try Self.report(options, ask)
        }
    }

    /// - Parameter ask: answers a request; nil if nobody is there any more.
    private static func report(
        _ options: TrashOptions, _ ask: (ControlRequest) throws(Failure) -> [String]?
    ) throws(Failure) -> String? {
        switch options.action {
        case .list: return try entries(ask).map { TrashTable($0, folder: options.folder).text }
        case .restore(let names): return try restore(names, ask)
        case .empty(let days):
            guard let count = try ask(.emptyTrash(olderThanDays: days))?.first else { return nil }
            return count == "1" ? "1 entry is gone\n" : "\(count) entries are gone\n"
        }
    }

    /// The oldest first.
    private static func entries(
        _ ask: (ControlRequest) throws(Failure) -> [String]?
    ) throws(Failure) -> [TrashLine]? {
        var entries: [TrashLine] = []
        while true {
            guard let lines = try ask(.trash(after: entries.last?.number ?? 0)) else { return nil }
            if lines.isEmpty { return entries }
            for line in lines {
                guard let entry = TrashLine(parsing: line) else {
                    throw .other("the server's answer cannot be understood; is it another version?")
                }
                entries.append(entry)
            }
        }
    }

    private static func restore(
        _ names: [String], _ ask: (ControlRequest) throws(Failure) -> [String]?
    ) throws(Failure) -> String? {
        guard let entries = try entries(ask) else { return nil }
        var (done, problems): ([String], [String]) = ([], [])
        for name in names {
            guard let entry = entry(name, in: entries) else {
                problems.append("\(name) is not in the trash")
                continue
            }
            let shown = NameSurvey.shown(entry.path.bytes)
            guard let line = try ask(.restore(id: entry.id))?.first else { return nil }
            switch TrashLine.Restored(parsing: line) {
            case .at(let path) where path == entry.path: done.append("/\(shown) is back\n")
            case .at(let path): done.append("/\(shown) is back as /\(NameSurvey.shown(path.bytes))\n")
            case .refused(let reason): problems.append("/\(shown) is not restored: \(reason)")
            case nil: problems.append("the server's answer cannot be understood; is it another version?")
            }
        }
        if problems.isEmpty { return done.joined() }
        // What was done is said, too.
        StandardStreams.writeOutput(done.joined())
        throw .other(problems.joined(separator: "\n       "))
    }

    /// By its id, or the last one by its path.
    private static func entry(_ name: String, in entries: [TrashLine]) -> TrashLine? {
        if let entry = entries.first(where: { $0.id == name }) { return entry }
        guard let path = ResourcePath(segments: name.utf8.split(separator: UInt8(ascii: "/"))) else {
            return nil
        }
        return entries.last { $0.path == path }
    }
}

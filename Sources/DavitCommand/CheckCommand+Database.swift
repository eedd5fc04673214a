internal import Davit
internal import DavitSystem
internal import DavitTree

extension CheckCommand {
    /// Checks a database and its store of content, and prints a line for each finding.
    /// - Throws: ``CommandFailure``, including when something is wrong.
    func checkDatabase() throws(CommandFailure) {
        #if Postgres
        Signals.ignoreBrokenPipes()
        let database = options.database
        let check = DatabaseCheck(
            servers: database.servers, blobs: database.blobs ?? "", share: database.share,
            comparesContent: options.comparesContent)
        let result: DatabaseCheck.Result
        do throws(ServerError) {
            result = try check.run { StandardStreams.writeOutput(Self.line(of: $0)) }
        } catch {
            throw .checkNotCompleted(reason: CommandFailure(error, folder: "").message)
        }
        for (kind, count) in result.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where count > TreeCheck.limit {
            StandardStreams.writeOutput("\(kind.rawValue): and \(count - TreeCheck.limit) more\n")
        }
        let count = result.counts.values.reduce(0, +)
        StandardStreams.writeOutput(
            "database: \(count == 0 ? "ok" : "damaged") (\(result.objects) objects checked)\n")
        if count > 0 { throw .databaseDamaged(count: count) }
        #else
        throw .checkNotCompleted(reason: "this build does not include PostgreSQL")
        #endif
    }

    #if Postgres
    private static func line(of finding: TreeFinding) -> String {
        var line = "\(finding.kind.rawValue) \(NameCheck.shown(Array(finding.subject.utf8))): \(finding.text)"
        if let (share, path) = finding.resource {
            line += ", used by \(NameCheck.shown(Array(share.utf8))):\(NameCheck.shown(path))"
        }
        return line + "\n"
    }
    #endif
}

package import DavitLogging
internal import DavitSystem

/// The arguments of `davit log`.
package struct LogOptions: Hashable, Sendable {
    /// The path in the share, or on the server.
    package var path: String
    /// The file of the audit log; nil for the one in the configuration.
    package var file: String?
    /// The maximum number of records.
    package var limit = 1_000
    /// Whether records are printed as they are stored.
    package var isJSON = false
    /// The configuration file of the server; without a file, only the environment.
    package var sources = ServeSources()

    package init(path: String) { self.path = path }
}

extension Arguments {
    mutating func log() throws(UsageError) -> Invocation {
        var options = LogOptions(path: "")
        let paths = try others { (arguments, word) throws(UsageError) in
            let (name, value) = Self.parts(of: word)
            switch name {
            case "--audit-log": options.file = try arguments.value(of: name, behindSign: value)
            case "--config": options.sources.file = try arguments.value(of: name, behindSign: value)
            case "--limit":
                options.limit = try Self.number(
                    try arguments.value(of: name, behindSign: value), option: name, in: 1...1_000_000)
            case "--json":
                if value != nil { throw .unwantedValue(option: name) }
                options.isJSON = true
            default:
                let names = ["--audit-log", "--config", "--limit", "--json", "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: names))
            }
        }
        guard let paths else { return .help(.log) }
        guard let path = paths.first, !path.isEmpty else { throw .missingLogPath }
        if paths.count > 1 { throw .unexpectedArgument(paths[1]) }
        options.path = path
        if options.file == nil { try options.sources.read(environment) }
        return .log(options)
    }
}

/// `davit log`: prints the history of a file from the audit log.
package struct LogCommand {
    package let options: LogOptions

    package init(options: LogOptions) { self.options = options }

    /// Prints the records of the file, the newest last. Blocks.
    func run() throws(CommandFailure) {
        var hasRecords = false
        let isComplete = try forEachRecord {
            hasRecords = true
            StandardStreams.writeOutput(options.isJSON ? $0.json : $0.text)
        }
        if !hasRecords { StandardStreams.writeError("davit: no records of \(path)\n") }
        if !isComplete {
            StandardStreams.writeError("davit: older records are left out; see --limit\n")
        }
    }

    /// Calls `body` with the records of the file, the newest last. Blocks.
    /// - Returns: false if there may be older records.
    package func forEachRecord(_ body: (AuditLine) -> Void) throws(CommandFailure) -> Bool {
        let file = try file()
        let history = AuditHistory(file)
        let isAuditLog: Bool
        do throws(SystemError) { isAuditLog = try history.isAuditLog() } catch {
            throw .auditLogNotReadable(file, reason: error.description)
        }
        if !isAuditLog { throw .notAnAuditLog(file) }
        do throws(SystemError) {
            return try history.forEach(of: path, limit: options.limit, body)
        } catch {
            throw .auditLogNotReadable(file, reason: error.description)
        }
    }

    /// The path with a slash at the beginning and without one at the end.
    private var path: String {
        let segments = options.path.split(separator: "/").filter { $0 != "." }
        return "/" + segments.joined(separator: "/")
    }

    private func file() throws(CommandFailure) -> String {
        let audit: AuditOptions
        let sources = options.sources
        if let file = options.file {
            var given = AuditOptions()
            given.path = file
            audit = given
        } else if sources.file == nil {
            let setting = sources.environment.last { $0.option == .auditLog }
            var given = AuditOptions()
            given.path = setting?.value
            audit = given
        } else {
            audit = try ServePlan(sources).options.audit
        }
        guard let path = audit.path else { throw .noAuditLog }
        guard let file = audit.file else { throw .auditLogNotInFile(path) }
        return file
    }
}

extension AuditLine {
    /// The record as it is stored, with a line end.
    package var json: String { String(decoding: bytes, as: UTF8.self) + "\n" }

    /// The record as a line for people, with a line end. Contains no control characters.
    package var text: String {
        var words = [text("time") ?? "-", text("op") ?? "-"]
        if let status = number("status") {
            words.append("(refused with \(status))")
        } else if text("result") == "partial" {
            words.append("(in part)")
        }
        words.append(text("path") ?? "-")
        if let destination = text("to") { words.append("to \(destination)") }
        if let bytes = number("bytes") { words.append("\(bytes) bytes") }
        if let digest = text("digest") { words.append(digest) }
        if let count = number("member_count") ?? number("member_count_at_least") {
            words.append("with \(count) members")
        }
        if let user = text("user") {
            words.append("by \(user)")
            if let via = text("via"), via != "account" {
                words.append(text("credential").map { "(\(via) \($0))" } ?? "(\(via))")
            }
        } else if text("via") != nil {
            words.append("by an anonymous client")
        }
        if let origin = text("from"), !origin.isEmpty { words.append("from \(origin)") }
        if let id = text("trash") { words.append("trash \(id)") }
        return NameCheck.shown(Array(words.joined(separator: " ").utf8)) + "\n"
    }
}

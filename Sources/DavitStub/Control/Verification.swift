internal import DavitFaults
internal import DavitHTTP
internal import DavitSQLite

/// Counts the recorded requests that have a method, a path and other properties, and compares the number.
struct Verification {
    private let rule: CompiledRule
    private let minimum: Int64
    private let maximum: Int64

    /// - Parameter json: an object with `methods`, `path`, `when`, and either `count` or `atLeast` and `atMost`;
    ///   without a number, one request is enough.
    /// - Throws: ``StubError/rule(_:)`` for a condition that cannot be used.
    init(json: JSONValue, folder: String) throws(StubError) {
        do throws(RuleError) {
            guard let members = json.members else { throw RuleError(column: "", "must be an object") }
            var reader = RuleReader(members: members)
            let (count, least, most) = (
                try reader.integer("count", 0...Int64.max), try reader.integer("atLeast", 0...Int64.max),
                try reader.integer("atMost", 0...Int64.max)
            )
            if count != nil, least != nil || most != nil {
                throw RuleError(column: "count", "excludes atLeast and atMost")
            }
            minimum = count ?? least ?? (most == nil ? 1 : 0)
            maximum = count ?? most ?? .max
            var rest: [JSONMember] = [.init("name", "verify"), .init("replies", [[:]])]
            for name in ["methods", "when"] {
                if let value = reader.take(name) { rest.append(.init(name, value)) }
            }
            rest.append(.init("path", reader.take("path") ?? "/**"))
            try reader.finish()
            rule = try CompiledRule(StubRule(json: .object(rest)), folder: folder, seed: 0)
        } catch {
            throw .rule(RuleError(column: error.column, error.problem))
        }
    }

    func response(for log: RequestLog.Snapshot) -> HTTPResponse {
        let found = log.requests.filter { matches($0) }
        let count = Int64(found.count)
        return .json([
            "holds": .bool(count >= minimum && count <= maximum), "count": .integer(count),
            // Requests that were removed may have matched.
            "isComplete": .bool(log.dropped == 0),
            "requests": .array(found.map { .integer(Int64(clamping: $0.number)) }),
        ])
    }

    func matches(_ entry: StubRequest) -> Bool {
        let methods = rule.rule.methods
        guard methods.isEmpty || methods.contains(entry.method) else { return false }
        let parts = entry.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let (path, endsInSlash) = try? ResourcePath.parse(rawPath: Array(parts[0].utf8)) else {
            return false
        }
        var segments = path.segments
        if endsInSlash { segments.append([]) }
        var trie = RuleTrie()
        trie.insert(rule.path, 0)
        guard !trie.candidates(for: segments).isEmpty else { return false }
        var received = ReceivedRequest(
            method: entry.method, path: path.description + (endsInSlash && !path.isRoot ? "/" : ""))
        switch rule.path.kind {
        case .segments: break
        case .glob(_, let glob): if !glob.matches(path) { return false }
        case .regex(let pattern): if !pattern.matches(received.path) { return false }
        }
        received.parameters = rule.path.parameters(in: segments)
        if parts.count > 1 {
            received.query = FormFields(query: Array(parts[1].utf8)).map {
                .init(name: $0.name, value: $0.value)
            }
        }
        received.fields = entry.fields.map { .init(name: $0.name, value: $0.value) }
        var content = ReceivedContent()
        let type = received.field("Content-Type").flatMap { ContentType(parsing: Array($0.utf8).span) }
        content.type = type?.essence ?? ""
        content.boundary = type?.parameters["boundary"].map { String(decoding: $0, as: UTF8.self) }
        (content.bytes, content.length) = (entry.content, entry.contentLength)
        received.content = content
        return rule.conditions.allSatisfy { $0.problem(in: received) == nil }
    }
}

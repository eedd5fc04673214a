internal import DavitHTTP

/// Makes rules from recorded requests.
enum RuleMaker {
    /// Fields of responses that belong to one message or are added by the server.
    static let omittedFields: Set<String> = [
        "date", "server", "connection", "keep-alive", "trailer", "transfer-encoding", "content-length",
        "upgrade",
    ]

    /// Returns a rule that answers requests like this one with the recorded response.
    /// - Parameter names: the names of existing rules, which the new one must not have.
    static func rule(from entry: StubRequest, among names: [String]) -> StubRule {
        let parts = entry.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let parsed = try? ResourcePath.parse(rawPath: Array(parts[0].utf8))
        let path = parsed.map { $0.path.description + ($0.endsInSlash && !$0.path.isRoot ? "/" : "") } ?? "/"
        var rule = rule(
            entry.method.rawValue, path: path, query: parts.count > 1 ? parts[1] : nil, among: names)
        // A request that got no useful response gets a reply to fill in, not the error.
        let isAnswered = entry.rule != nil || entry.isForwarded
        var reply = StubReply(isAnswered ? entry.status ?? .ok : .ok)
        if isAnswered {
            reply.fields = entry.responseFields.filter { !omittedFields.contains($0.name.lowercased()) }
            if !entry.response.isEmpty {
                reply.content =
                    String(validating: entry.response, as: UTF8.self).map { .text($0) }
                    ?? .bytes(entry.response)
            }
        } else {
            reply.content = .text("")
        }
        rule.replies = [reply]
        return rule
    }

    /// Returns a rule without replies for a method, a decoded path, and the items of a query as sent.
    static func rule(_ method: String, path: String, query: String?, among names: [String]) -> StubRule {
        let needsPattern = path.contains { "{}*".contains($0) } || path.hasPrefix("~")
        var rule = StubRule(
            unusedName("\(method) \(path)", names),
            [HTTPMethod.named.first { "\($0.name)" == method }?.method ?? .other(method)],
            path: needsPattern ? "~^\(escaped(path))$" : path)
        for item in FormFields(query: Array((query ?? "").utf8)).prefix(20) {
            rule.conditions.append(["query": .string(item.name), "is": .string(item.value)])
        }
        return rule
    }

    private static func unusedName(_ name: String, _ names: [String]) -> String {
        let base = String(name.prefix(90))
        if !names.contains(base) { return base }
        var number = 2
        while names.contains("\(base) (\(number))") { number += 1 }
        return "\(base) (\(number))"
    }

    private static func escaped(_ text: String) -> String {
        var pattern = ""
        for character in text {
            if "\\^$.|?*+()[]{}".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        return pattern
    }
}

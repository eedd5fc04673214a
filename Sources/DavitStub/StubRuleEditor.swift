public import DavitHTTP
internal import DavitSQLite

/// Changes a rule of a ``StubServer``. Each call takes effect for the next request.
public struct StubRuleEditor: Sendable {
    private let state: StubState
    public private(set) var rule: StubRule
    private var hasReply: Bool

    init(state: StubState, rule: StubRule, hasReply: Bool) {
        self.state = state
        self.rule = rule
        self.hasReply = hasReply
    }

    /// Changes any part of the rule except its name.
    /// - Throws: ``StubError``; the rule is then unchanged.
    @discardableResult
    public func changing(_ body: (inout StubRule) -> Void) throws(StubError) -> StubRuleEditor {
        var editor = self
        body(&editor.rule)
        editor.rule.name = rule.name
        try state.store(editor.rule)
        return editor
    }

    /// Adds a reply. With several, each request gets the next one; see ``StubRule/choice``.
    /// - Throws: ``StubError``.
    @discardableResult
    public func reply(
        _ status: HTTPStatus = .ok, _ content: StubReply.Content = .none, fields: [String: String] = [:]
    ) throws(StubError) -> StubRuleEditor {
        var reply = StubReply(status, content)
        reply.fields = fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
        let replies = (hasReply ? rule.replies : []) + [reply]
        var editor = try changing { $0.replies = replies }
        editor.hasReply = true
        return editor
    }

    /// Adds a reply with status 200.
    /// - Throws: ``StubError``.
    @discardableResult
    public func reply(_ content: StubReply.Content) throws(StubError) -> StubRuleEditor {
        try reply(.ok, content)
    }

    /// Adds a condition in JSON that must hold for the rule to match: `["query": "page", "is": "2"]`.
    /// - Throws: ``StubError``.
    @discardableResult
    public func when(_ condition: JSONValue) throws(StubError) -> StubRuleEditor {
        try changing { $0.conditions.append(condition) }
    }

    /// Adds a check in JSON: requests for which it fails are answered with 422 and a list of what is wrong.
    /// - Throws: ``StubError``.
    @discardableResult
    public func requiring(_ check: JSONValue) throws(StubError) -> StubRuleEditor {
        try changing { $0.checks.append(check) }
    }

    /// Requires a value in JSON content, with a format such as `email`, `date` or `uuid`.
    /// - Parameter path: a JSON path such as `$.user.email`.
    /// - Throws: ``StubError``.
    @discardableResult
    public func requiring(json path: String, format: String? = nil) throws(StubError) -> StubRuleEditor {
        var check: [JSONMember] = [.init("json", .string(path))]
        if let format { check.append(.init("format", .string(format))) }
        return try requiring(.object(check))
    }

    /// Requires a field.
    /// - Throws: ``StubError``.
    @discardableResult
    public func requiring(field name: String) throws(StubError) -> StubRuleEditor {
        try requiring(["field": .string(name)])
    }

    /// Adds faults in the language of `davit serve --faults`, such as `delay=300ms` or `status=503 every=3`. The
    /// conditions in one call concern only the faults in that call.
    /// - Throws: ``StubError``.
    @discardableResult
    public func faults(_ text: String) throws(StubError) -> StubRuleEditor {
        try changing { $0.faults = $0.faults.isEmpty ? text : "\($0.faults); \(text)" }
    }

    /// Answers some requests with an error instead of a reply, at random.
    /// - Parameter probability: from 0 to 1.
    /// - Throws: ``StubError``.
    @discardableResult
    public func failing(
        probability: Double, _ status: HTTPStatus = .serviceUnavailable
    ) throws(StubError) -> StubRuleEditor {
        try faults("probability=\(min(max(probability, 0), 1)) status=\(status.code)")
    }

    /// Delays the response.
    /// - Throws: ``StubError`` for more than a day.
    @discardableResult
    public func delay(_ duration: Duration) throws(StubError) -> StubRuleEditor {
        let (seconds, attoseconds) = duration.components
        return try faults("delay=\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms")
    }
}

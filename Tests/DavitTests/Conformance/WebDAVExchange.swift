/// Consecutive requests to a complete server on separate connections, and the responses that RFC 4918
/// requires.
struct WebDAVExchange: CustomStringConvertible, Sendable {
    struct Step: Sendable {
        var line: String
        var fields: [String]
        var content: String
        var status: Int
        /// Fields of the response; nil if a field must be absent, `*` if it can have any value.
        var expected: [String: String?]
        /// Texts that the content of the response must contain, and must not contain.
        var holds: [String]
        var lacks: [String]
    }

    /// Section numbers, separated by commas.
    let clauses: String
    let title: String
    let steps: [Step]

    init(_ clauses: String, _ title: String, _ steps: [Step]) {
        self.clauses = clauses
        self.title = title
        self.steps = steps
    }

    var description: String { "§\(clauses): \(title)" }
}

/// Creates a step. In the line, the fields and the content, `{1}`, `{2}` … are replaced by the tokens of the
/// locks created so far, and `{tag}` by the last entity tag.
func ask(
    _ line: String, _ fields: [String], _ content: String, _ status: Int,
    _ expected: [String: String?] = [:], holds: [String] = [], lacks: [String] = []
) -> WebDAVExchange.Step {
    WebDAVExchange.Step(
        line: line, fields: fields, content: content, status: status, expected: expected, holds: holds,
        lacks: lacks)
}

func ask(
    _ line: String, _ status: Int, _ expected: [String: String?] = [:], holds: [String] = [],
    lacks: [String] = []
) -> WebDAVExchange.Step {
    ask(line, [], "", status, expected, holds: holds, lacks: lacks)
}

func ask(
    _ line: String, _ fields: [String], _ status: Int, _ expected: [String: String?] = [:],
    holds: [String] = [], lacks: [String] = []
) -> WebDAVExchange.Step {
    ask(line, fields, "", status, expected, holds: holds, lacks: lacks)
}

// MARK: Contents

func lockInfo(_ scope: String = "exclusive", owner: String = "<D:owner>me</D:owner>") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:\(scope)/></D:lockscope>\
    <D:locktype><D:write/></D:locktype>\(owner)</D:lockinfo>
    """
}

/// - Parameter instructions: `set` and `remove` elements; the prefix `x` is `urn:x`.
func update(_ instructions: String) -> String {
    "<D:propertyupdate xmlns:D=\"DAV:\" xmlns:x=\"urn:x\">\(instructions)</D:propertyupdate>"
}

func set(_ properties: String) -> String { "<D:set><D:prop>\(properties)</D:prop></D:set>" }

func remove(_ properties: String) -> String { "<D:remove><D:prop>\(properties)</D:prop></D:remove>" }

func find(_ properties: String) -> String {
    "<D:propfind xmlns:D=\"DAV:\" xmlns:x=\"urn:x\"><D:prop>\(properties)</D:prop></D:propfind>"
}

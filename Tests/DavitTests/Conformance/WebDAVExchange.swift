/// Requests to a whole server, one after the other on connections of their own, and what RFC 4918 says about the
/// answers.
struct WebDAVExchange: CustomStringConvertible, Sendable {
    struct Step: Sendable {
        var line: String
        var fields: [String]
        var content: String
        var status: Int
        /// Fields of the response; nil where there must be none, `*` where it does not matter what it says.
        var expected: [String: String?]
        /// What the content must hold, and must not.
        var holds: [String]
        var lacks: [String]
    }

    /// Sections, with commas between.
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

/// In fields and contents `{1}`, `{2}` … stand for the tokens of the locks taken so far, `{tag}` for the last entity tag
/// seen.
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

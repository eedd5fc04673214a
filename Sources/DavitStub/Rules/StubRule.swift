public import DavitHTTP
internal import DavitSQLite

/// A rule of a stub server: which requests it matches, and how they are answered.
public struct StubRule: Hashable, Sendable {
    /// Which of several replies is sent.
    public enum Choice: String, Hashable, Sendable, CaseIterable {
        /// One after the other, and again from the first.
        case cycle
        /// One after the other, and then always the last.
        case sequence
        /// At random, by weight.
        case random
    }

    /// What a rule does with sessions.
    public enum SessionUse: String, Hashable, Sendable, CaseIterable {
        /// Starts a session, and sends its token as a cookie.
        case start
        /// Answers requests without a valid session with 401.
        case required
        /// Ends the session of the request; requests without one are answered with 401.
        case end
    }

    /// A scenario is a named state machine that several rules share. Its initial state is `start`.
    public struct Scenario: Hashable, Sendable {
        /// The state in which every scenario begins.
        public static let initialState = "start"

        public var name: String
        /// The state in which the rule matches; nil for every state.
        public var from: String?
        /// The state after the rule has answered; nil to keep the state.
        public var to: String?

        public init(_ name: String, from: String? = nil, to: String? = nil) {
            self.name = name
            self.from = from
            self.to = to
        }
    }

    /// 1 to 100 characters, unique among the rules of a server.
    public var name: String
    public var isEnabled = true
    /// The methods; empty for all.
    public var methods: [HTTPMethod] = []
    /// The path, decoded and with its trailing slash, if any: `/login`; `/things/{id}`, where a segment in braces
    /// matches any segment; `/files/**` or `/a/*.txt`, where `*` matches any characters within a segment and `**`
    /// also slashes; or `~` and a regular expression.
    public var path: String
    /// Conditions in JSON that must all hold for the rule to match.
    public var conditions: [JSONValue] = []
    /// Conditions in JSON that are checked after the rule has matched.
    public var checks: [JSONValue] = []
    /// The status of the response if a check fails.
    public var checkStatus = HTTPStatus(422)
    public var replies: [StubReply] = []
    public var choice = Choice.cycle
    /// Fault rules in the language of `davit serve --faults`, without methods and paths, separated by semicolons;
    /// empty for none.
    public var faults = ""
    public var scenario: Scenario?
    public var session: SessionUse?
    /// How long a session that this rule starts is valid, in seconds from 1 to 31,536,000.
    public var sessionSeconds: Int64 = 3600
    /// Whether the rule stores JSON objects below its path instead of sending replies.
    public var isCollection = false

    public init(_ name: String, _ methods: [HTTPMethod] = [], path: String) {
        self.name = name
        self.methods = methods
        self.path = path
    }
}

/// One response of a rule.
public struct StubReply: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case none
        case text(String)
        case json(JSONValue)
        /// Text with placeholders such as `{{path.id}}`; see docs/stub.md.
        case template(String)
        case bytes([UInt8])
        /// The name of a file in the folder of the database.
        case file(String)
    }

    public var status: HTTPStatus
    /// The fields, in order. Content-Type is added if it is missing and there is content.
    public var fields: [Field] = []
    public var content = Content.none
    /// The weight of the reply if replies are chosen at random, from 0 on.
    public var weight = 1.0
    /// The state of the rule's scenario in which the reply is sent; nil for every state.
    public var state: String?

    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(_ status: HTTPStatus = .ok, _ content: Content = .none) {
        self.status = status
        self.content = content
    }
}

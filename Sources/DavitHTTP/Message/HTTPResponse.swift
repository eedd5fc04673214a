/// A final response. The connection adds Date, Content-Length or Transfer-Encoding and, if necessary, Server
/// and Connection. For HEAD, it sends the head of this response without the content.
public struct HTTPResponse {
    /// The status code.
    public var status: HTTPStatus
    /// The fields, without those for message framing, `Date` and `Server`, which the transport adds.
    public var fields: HTTPFields
    /// The content; not sent in responses to HEAD.
    public var body: HTTPBody
    /// Whether to close the connection after this response even if the request allows keeping it open.
    public var closesConnection = false
    /// Whether the reason of a refusal is the same for every account: signing in would not help.
    package var isSameForEveryAccount = false

    /// Creates a response.
    public init(status: HTTPStatus, fields: HTTPFields = HTTPFields(), body: HTTPBody = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Named ``fields`` here, as in RFC 9110.
    @available(*, unavailable, renamed: "fields")
    public var headers: HTTPFields { fields }
}

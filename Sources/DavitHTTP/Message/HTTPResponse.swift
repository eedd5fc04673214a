/// A final response. The connection adds Date, Content-Length or Transfer-Encoding, and Connection;
/// a HEAD request gets the head of what is here, without the content.
public struct HTTPResponse {
    /// What became of the request.
    public var status: HTTPStatus
    /// Without those that say how the message is framed: the transport adds these, `Date` and `Server`.
    public var fields: HTTPFields
    /// The content. It is left out of answers to HEAD.
    public var body: HTTPBody
    /// Close the connection after this response although the request would let it live.
    public var closesConnection = false

    /// A response with these fields and this content.
    public init(_ status: HTTPStatus, fields: HTTPFields = HTTPFields(), body: HTTPBody = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

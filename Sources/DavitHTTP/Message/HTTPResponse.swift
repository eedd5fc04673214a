/// A final response. The connection adds Date, Content-Length or Transfer-Encoding, and Connection;
/// a HEAD request gets the head of what is here, without the content.
public struct HTTPResponse {
    public var status: HTTPStatus
    public var fields: HTTPFields
    public var body: HTTPBody
    /// Close the connection after this response although the request would let it live.
    public var closesConnection = false

    public init(_ status: HTTPStatus, fields: HTTPFields = HTTPFields(), body: HTTPBody = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

public import DavitHTTP
internal import DavitServer

extension HTTPResponse {
    /// `application/json` from a value. Dates become text as in RFC 3339, data Base64.
    ///
    /// The whole text is made in memory, on the event loop.
    /// - Throws: what the value says that cannot be encoded, like a number that is not finite; a route answers 500 then.
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) throws -> HTTPResponse {
        .bytes(try JSONText.encode(value), type: "application/json", status: status)
    }
}

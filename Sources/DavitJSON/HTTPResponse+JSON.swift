public import DavitHTTP
internal import DavitServer

extension HTTPResponse {
    /// Creates an `application/json` response from a value. Dates become RFC 3339 text, data becomes Base64.
    ///
    /// The entire text is created in memory; in a route, this blocks the event loop.
    /// - Throws: the encoding error of the value, for example for a number that is not finite; in a route
    ///   this results in 500.
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) throws -> HTTPResponse {
        .bytes(try JSONCoding.encode(value), type: "application/json", status: status)
    }
}

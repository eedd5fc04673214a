public import DavitHTTP

/// An HTTP application that returns one response for each request.
///
/// Runs on the event loop of the connection and must not block: run each blocking operation on a
/// `BlockingPool`.
public protocol Handler: Mountable {
    /// Returns the response to `request`.
    /// - Throws: ``HTTPError``; the connection sends its status and a short body.
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Returns a response if it is available without waiting. This is the cheapest path, for the most
    /// frequent requests, because it needs no task. Called only if the content has arrived with the head
    /// (``RequestBody/arrived``) or the request has none.
    /// - Returns: nil, without side effects, if the caller must use ``respond(to:)``.
    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse?
}

extension Handler {
    public func handler(in environment: ServerEnvironment) throws -> any Handler { self }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? { nil }
}

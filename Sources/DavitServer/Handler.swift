public import DavitHTTP

/// An HTTP application: one request in, one response out.
///
/// Runs on the event loop of the connection. It must not block: calls that can wait belong on a
/// `BlockingPool`, one hop for each operation.
public protocol Handler: Mountable {
    /// - Throws: ``HTTPError``; the connection answers it with its status and a short body.
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Answers a request if nothing has to be waited for: the cheapest way for the most frequent requests,
    /// without a task. Asked where the content has arrived with the head (``RequestBody/arrived``), or there
    /// is none.
    /// - Returns: nil, and nothing has been done, if ``respond(to:)`` is to be asked.
    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse?
}

extension Handler {
    public func handler(in environment: ServerEnvironment) throws -> any Handler { self }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? { nil }
}

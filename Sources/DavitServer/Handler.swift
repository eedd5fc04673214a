public import DavitHTTP

/// An HTTP application: one request in, one response out.
///
/// Runs on the event loop of the connection. It must not block: calls that can wait belong on a
/// `BlockingPool`, one hop for each operation.
public protocol Handler: Sendable {
    /// - Throws: ``HTTPError``; the connection answers it with its status and a short body.
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}

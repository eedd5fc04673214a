public import DavitHTTP

/// An HTTP application that returns one response for each request.
public protocol Handler: Mountable {
    /// Returns the response to `request`, or the work that will return it.
    ///
    /// Called once for each request, on the event loop of the connection, as soon as the head has arrived;
    /// must not block. Return ``Reply/ready(_:)`` if the response is available without waiting; this is the
    /// fastest path, because it needs no task. Content that has arrived with the head is available in
    /// ``DavitHTTP/RequestBody/arrived``. Return ``Reply/pending(_:)`` for everything else, and run each
    /// blocking operation with a ``BlockingWorkRunner``.
    /// - Throws: ``HTTPError``; the connection sends its status and a short text.
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply
}

extension Handler {
    public func handler(in environment: ServerEnvironment) throws -> any Handler { self }
}

internal import DavitHTTP

/// The result of a method: a response, or the work that returns one; like `Reply`, but with the errors of the
/// engine.
enum MethodReply {
    case ready(HTTPResponse)
    /// Closures must not have a capture list; with one, they would leave the event loop.
    case pending(Work)

    typealias Work = nonisolated(nonsending) () async throws(WebDAVError) -> HTTPResponse
}

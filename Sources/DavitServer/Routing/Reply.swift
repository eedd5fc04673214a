public import DavitHTTP

/// The result of ``Handler/respond(to:)``: a response, or the work that returns one.
///
/// ```swift
/// func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
///     if let page = cache[request.target.rawPath] { return .ready(.text(page)) }
///     return .pending { .text(try await render(request)) }
/// }
/// ```
public enum Reply {
    /// A response that is available without waiting. The connection sends it without a task.
    case ready(HTTPResponse)
    /// Work that returns the response. The connection runs it once, in a task on its event loop, or drops it
    /// if the client has disconnected.
    ///
    /// Write the closure without a capture list; with one, it would leave the event loop.
    case pending(PendingResponse)
}

/// Returns a response after waiting; must not block. Continues on the executor of its caller.
public typealias PendingResponse = nonisolated(nonsending) () async throws(HTTPError) -> HTTPResponse

extension Reply {
    /// Returns the response. Runs the work if there is any, so call this at most once.
    public nonisolated(nonsending) func response() async throws(HTTPError) -> HTTPResponse {
        switch self {
        case .ready(let response): response
        case .pending(let work): try await work()
        }
    }

    /// Returns a reply with the result of `transform`. A ready response remains ready.
    public func map(_ transform: @escaping (HTTPResponse) -> HTTPResponse) -> Reply {
        switch self {
        case .ready(let response): .ready(transform(response))
        case .pending(let work): .pending { () async throws(HTTPError) in transform(try await work()) }
        }
    }
}

public import DavitHTTP

/// Wraps a handler. A middleware can rewrite the request, respond instead of the handler, and inspect or
/// replace the response.
public protocol Middleware: Sendable {
    /// Handles a request. Called once for each request, like ``Handler/respond(to:)``.
    ///
    /// To pass a request on, return the reply of `next` itself. To change the response, use
    /// ``Reply/map(_:)``; to wait before or after the call, use ``Reply/pending(_:)`` with
    /// ``Reply/response()``.
    /// - Parameter next: the wrapped handler; call it at most once.
    /// - Throws: an error that is sent as the response, with its status and reason.
    func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply
}

/// A handler wrapped in a middleware; created by ``Handler/applying(_:)``.
public struct MiddlewareHandler<Front: Middleware, Next: Handler>: Handler {
    private let front: Front
    private let next: Next

    init(_ front: Front, next: Next) {
        self.front = front
        self.next = next
    }

    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        front.inFront(of: try next.handler(in: environment))
    }

    public var announcedFields: HTTPFields { next.announcedFields }

    public func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        try front.handle(request, next: next)
    }
}

extension Middleware {
    /// Wraps a handler whose type is not known statically.
    package func inFront(of handler: any Handler) -> any Handler {
        func applying(_ next: some Handler) -> any Handler { next.applying(self) }
        return applying(handler)
    }
}

extension Handler {
    /// Wraps this handler in `middleware`: `router.applying(CORS(origins: [...]))`. The middleware added last
    /// sees the request first.
    public func applying<M: Middleware>(_ middleware: M) -> MiddlewareHandler<M, Self> {
        MiddlewareHandler(middleware, next: self)
    }
}

extension Mountable {
    /// Wraps the handler created from this value in `middleware`, for a single mount:
    /// `routes.mount("/files", WebDAVShare("/srv/files").applying(CORS(origins: [...])))`.
    public func applying(_ middleware: some Middleware) -> some Mountable {
        MountedMiddleware(front: middleware, mountable: self)
    }
}

private struct MountedMiddleware<Front: Middleware, Base: Mountable>: Mountable {
    let front: Front
    let mountable: Base

    func handler(in environment: ServerEnvironment) throws -> any Handler {
        front.inFront(of: try mountable.handler(in: environment))
    }

    var announcedFields: HTTPFields { mountable.announcedFields }
}

/// A middleware that inspects requests before the handler does.
public struct BeforeHandling: Middleware {
    private let look: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse?

    /// - Parameter look: returns a response to send instead of calling the handler, or nil to call the
    ///   handler. The closure may rewrite the target (``DavitHTTP/HTTPRequest/rewriteTarget(to:)``) and set
    ///   the principal.
    public init(_ look: @escaping @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse?) {
        self.look = look
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        .pending { () async throws(HTTPError) in
            if let response = try await look(request) { return response }
            return try await next.respond(to: request).response()
        }
    }
}

/// A middleware that inspects responses before they are sent.
public struct AfterHandling: Middleware {
    private let look: @Sendable (HTTPRequest, HTTPResponse) async throws(HTTPError) -> HTTPResponse

    /// - Parameter look: receives the handler's response and returns the response to send.
    public init(
        _ look: @escaping @Sendable (HTTPRequest, HTTPResponse) async throws(HTTPError) -> HTTPResponse
    ) {
        self.look = look
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let reply = try next.respond(to: request)
        return .pending { () async throws(HTTPError) in
            try await look(request, try await reply.response())
        }
    }
}

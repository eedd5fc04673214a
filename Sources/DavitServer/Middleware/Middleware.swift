public import DavitHTTP

/// Something that stands in front of a handler: it can rewrite the request, answer instead of the handler, and
/// see or replace the response.
public protocol Middleware: Sendable {
    /// - Parameter next: what stands behind; called once or not at all.
    /// - Throws: what is answered instead, with its status and reason.
    func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse

    /// As ``handle(_:next:)``, for requests that can be answered without waiting; asks ``Handler/respondAtOnce(to:)``.
    /// - Returns: nil, and nothing has been done, if ``handle(_:next:)`` is to be asked; always so unless implemented.
    func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse?
}

extension Middleware {
    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? { nil }
}

/// A handler with a middleware in front of it; ``Handler/behind(_:)`` makes it.
public struct Behind<Front: Middleware, Next: Handler>: Handler {
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

    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await front.handle(request, next: next)
    }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        front.handleAtOnce(request, next: next)
    }
}

extension Middleware {
    /// A handler whose type is not known here, with this in front of it.
    package func inFront(of handler: any Handler) -> any Handler {
        func behind(_ next: some Handler) -> any Handler { next.behind(self) }
        return behind(handler)
    }
}

extension Handler {
    /// This handler with `middleware` in front of it: `router.behind(CORS(origins: [...]))`. What is added last sees
    /// the request first.
    public func behind<M: Middleware>(_ middleware: M) -> Behind<M, Self> { Behind(middleware, next: self) }
}

extension Mountable {
    /// What this becomes, with `middleware` in front of it, for one mount alone:
    /// `routes.mount("/files", WebDAVShare("/srv/files").behind(CORS(origins: [...])))`.
    public func behind(_ middleware: some Middleware) -> some Mountable {
        MountedBehind(front: middleware, mountable: self)
    }
}

private struct MountedBehind<Front: Middleware, Base: Mountable>: Mountable {
    let front: Front
    let mountable: Base

    func handler(in environment: ServerEnvironment) throws -> any Handler {
        front.inFront(of: try mountable.handler(in: environment))
    }

    var announcedFields: HTTPFields { mountable.announcedFields }
}

/// Looks at requests before the handler does.
public struct BeforeHandling: Middleware {
    private let look: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse?

    /// - Parameter look: a response ends the request; nil goes on to the handler. It may rewrite the target
    ///   (``DavitHTTP/HTTPRequest/rewriteTarget(to:)``) and set the principal.
    public init(_ look: @escaping @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse?) {
        self.look = look
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        if let response = try await look(request) { return response }
        return try await next.respond(to: request)
    }
}

/// Looks at responses before they are sent.
public struct AfterHandling: Middleware {
    private let look: @Sendable (HTTPRequest, HTTPResponse) async throws(HTTPError) -> HTTPResponse

    /// - Parameter look: gets the response of the handler and returns the one that is sent.
    public init(
        _ look: @escaping @Sendable (HTTPRequest, HTTPResponse) async throws(HTTPError) -> HTTPResponse
    ) {
        self.look = look
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        try await look(request, try await next.respond(to: request))
    }
}

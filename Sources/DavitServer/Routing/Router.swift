public import DavitHTTP

/// Passes each request to the handler for its path.
///
/// ```swift
/// let router = Router { routes in
///     routes.get("/hello") { request in .text("Hello, \(request.query["name"] ?? "world")!") }
///     routes.post("/note", body: .form()) { request, form in try await save(form["text"]) }
///     routes.get("/users/{id}") { request in .text("User \(request.parameters["id"] ?? "")") }
///     routes.mount("/files", share)
/// }
/// ```
/// The last route added is tried first. A path without a route is answered with 404, a path without a route
/// for the method with 405 and `Allow`, and a method without any route with 501. OPTIONS is answered from the
/// route table.
///
/// Conditional GET requests are evaluated if the response has an entity tag or Last-Modified; see
/// ``DavitHTTP/HTTPResponse/entityTag(_:isWeak:)``.
///
/// If an action throws `HTTPError`, the response has its status and reason. For any other error, the response
/// is 500 with only a request ID, and the error is passed to `report` together with that ID.
public struct Router: Handler {
    private var table: RouteTable
    private var report: (@Sendable (HandlerFailure) -> Void)?
    private var temporaryFiles: TemporaryFiles?

    /// - Parameters:
    ///   - temporaryFiles: where body readers store content that is too long for memory; nil for the storage
    ///     of the server in which the router is mounted.
    ///   - report: called on the event loop for each unexpected error of an action; must not block. If nil,
    ///     the server in which the router is mounted logs these errors.
    ///   - build: adds the routes; none can be added later. For routes that change, see ``MutableRouter``.
    public init(
        temporaryFiles: TemporaryFiles? = nil, report: (@Sendable (HandlerFailure) -> Void)? = nil,
        _ build: (inout Routes) -> Void
    ) {
        var routes = Routes()
        build(&routes)
        self.init(routes, temporaryFiles: temporaryFiles, report: report)
    }

    init(
        _ routes: Routes, temporaryFiles: TemporaryFiles?, report: (@Sendable (HandlerFailure) -> Void)?
    ) {
        table = routes.table
        self.report = report
        self.temporaryFiles = temporaryFiles
    }

    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        try made(in: environment)
    }

    /// Returns this router with the handlers of all mounts.
    func made(in environment: ServerEnvironment) throws -> Router {
        var router = self
        try router.table.make(in: environment)
        router.report = report ?? { environment.report($0) }
        router.temporaryFiles = temporaryFiles ?? environment.temporaryFiles
        return router
    }

    /// Returns this router with the mounts of `other` that it has in common with it.
    func takingHandlers(from other: Router) -> Router {
        var router = self
        router.table.takeHandlers(from: other.table)
        return router
    }

    /// See ``RouteTable/mountRequiringServer``.
    var mountRequiringServer: ResourcePath? { table.mountRequiringServer }

    /// The fields that the mounted applications announce.
    public var announcedFields: HTTPFields {
        table.announcements.reduce(into: HTTPFields()) { $0.appendMissing($1.fields) }
    }

    /// - Throws: only ``DavitHTTP/HTTPError/disconnected``, or 400 for a path that no resource can have.
    public func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        // Neither `*` nor the target of CONNECT (RFC 9112 §3.2.3) is a path.
        let isAboutServer = request.targetForm == .asterisk || request.targetForm == .authority
        let (path, endsInSlash) = try ResourcePath.parse(rawPath: request.rawPath)
        let key = RouteTable.Key(path: path, endsInSlash: endsInSlash)
        let reply =
            if let match = isAboutServer ? nil : table.answer(to: request, at: key) {
                try run(match, request)
            } else {
                try answerWithoutRoute(request, key, isAboutServer: isAboutServer)
            }
        guard request.method == .options, !table.announcements.isEmpty else { return reply }
        return reply.map { response in
            var response = response
            for announcement in table.announcements
            where isAboutServer || table.isAbove(path, announcement.prefix) {
                response.fields.appendMissing(announcement.fields)
            }
            return response
        }
    }

    private func answerWithoutRoute(
        _ request: HTTPRequest, _ key: RouteTable.Key, isAboutServer: Bool
    ) throws(HTTPError) -> Reply {
        let fallback = table.fallback(for: request.method, at: isAboutServer ? nil : key.path)
        guard fallback != nil || table.knows(request.method) else {
            return .ready(.error(.notImplemented, "Method not implemented.", for: request))
        }
        let methods = isAboutServer ? table.allMethods : table.methods(at: key, for: request)
        let isKnown = isAboutServer || !methods.isEmpty
        if request.method == .options,
            isKnown || table.announcements.contains(where: { table.contains($0.prefix, in: key.path) })
        {
            return .ready(Self.allowing(methods, HTTPResponse(status: .noContent)))
        }
        if let fallback { return try run(.action(fallback), request) }
        guard isKnown else { return .ready(.error(.notFound, "Not found.", for: request)) }
        return .ready(
            Self.allowing(methods, .error(.methodNotAllowed, "Method not allowed.", for: request)))
    }

    private static func allowing(_ methods: [HTTPMethod], _ response: HTTPResponse) -> HTTPResponse {
        var response = response
        let all = methods.contains(.options) ? methods : methods + [.options]
        response.fields.append(.allow, all.map(\.rawValue).joined(separator: ", "))
        return response
    }

    /// Runs the route and converts its errors to responses.
    private func run(_ match: RouteMatch, _ request: HTTPRequest) throws(HTTPError) -> Reply {
        switch match {
        case .mount(let mount): return try run(mount, request)
        case .action(let action):
            let (files, report) = (temporaryFiles ?? .none, report)
            return .pending { () async throws(HTTPError) in
                try await Self.run(action, request, files, report)
            }
        }
    }

    private func run(_ mount: Mount, _ request: HTTPRequest) throws(HTTPError) -> Reply {
        let reply: Reply
        do throws(HTTPError) { reply = try mount.respond(to: request) } catch {
            return .ready(try Self.response(to: request, error))
        }
        guard case .pending(let work) = reply else { return reply }
        return .pending { () async throws(HTTPError) in
            do throws(HTTPError) { return try await work() } catch {
                return try Self.response(to: request, error)
            }
        }
    }

    private static func run(
        _ action: (HTTPRequest, TemporaryFiles) async throws -> HTTPResponse, _ request: HTTPRequest,
        _ temporaryFiles: TemporaryFiles, _ report: (@Sendable (HandlerFailure) -> Void)?
    ) async throws(HTTPError) -> HTTPResponse {
        do {
            return try await action(request, temporaryFiles).conditional(for: request)
        } catch let error as HTTPError {
            return try response(to: request, error)
        } catch {
            if error is CancellationError, Task.isCancelled { throw .disconnected }
            let failure = HandlerFailure(error, request)
            report?(failure)
            return failure.response(to: request)
        }
    }

    private static func response(
        to request: HTTPRequest, _ error: HTTPError
    ) throws(HTTPError) -> HTTPResponse {
        if error.isDisconnected { throw error }
        return .error(error.status, error.reason, for: request)
    }
}

public import DavitHTTP

/// Passes each request to the handler for its path.
///
/// ```swift
/// let router = Router { routes in
///     routes.get("/hello") { request in .text("Hello, \(request.query["name"] ?? "world")!") }
///     routes.post("/note", body: .form()) { request, form in try await save(form["text"]) }
///     routes.get(matching: { /\/users\/(\d+)/ }) { request, match in .text("User \(match.1)") }
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
    ///   - build: adds the routes; none can be added later.
    public init(
        temporaryFiles: TemporaryFiles? = nil, report: (@Sendable (HandlerFailure) -> Void)? = nil,
        _ build: (inout Routes) -> Void
    ) {
        var routes = Routes()
        build(&routes)
        table = routes.table
        self.report = report
        self.temporaryFiles = temporaryFiles
    }

    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        var router = self
        try router.table.make(in: environment)
        router.report = report ?? { environment.report($0) }
        router.temporaryFiles = temporaryFiles ?? environment.temporaryFiles
        return router
    }

    /// The fields that its mounts announce.
    public var announcedFields: HTTPFields {
        table.announcements.reduce(into: HTTPFields()) { $0.appendMissing($1.fields) }
    }

    /// Calls the mount at the path, unless that requires running application code first.
    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        // OPTIONS responses also include the announcements of mounts.
        guard request.method != .options, request.method != .connect,
            let (path, endsInSlash) = try? request.target.resourcePath()
        else { return nil }
        let key = RouteTable.Key(path: path, endsInSlash: endsInSlash)
        return table.mount(for: request, at: key)?.respondAtOnce(to: request)
    }

    /// - Throws: only ``DavitHTTP/HTTPError/disconnected``, or 400 for a path that no resource can have.
    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        // The target of CONNECT is not a path either (RFC 9112 §3.2.3).
        let isAboutServer = request.target.form == .asterisk || request.target.form == .authority
        let (path, endsInSlash) = try request.target.resourcePath()
        let key = RouteTable.Key(path: path, endsInSlash: endsInSlash)
        var response =
            if let answer = isAboutServer ? nil : table.answer(to: request, at: key) {
                try await run(answer, request)
            } else {
                try await answerWithoutRoute(request, key, isAboutServer: isAboutServer)
            }
        if request.method == .options {
            for announcement in table.announcements
            where isAboutServer || path != announcement.prefix && path.contains(announcement.prefix) {
                response.fields.appendMissing(announcement.fields)
            }
        }
        return response
    }

    private func answerWithoutRoute(
        _ request: HTTPRequest, _ key: RouteTable.Key, isAboutServer: Bool
    ) async throws(HTTPError) -> HTTPResponse {
        guard table.knows(request.method) else {
            return .error(.notImplemented, "Method not implemented.", for: request)
        }
        let methods = isAboutServer ? table.allMethods : table.methods(at: key, for: request)
        let isKnown = isAboutServer || !methods.isEmpty
        if request.method == .options,
            isKnown || table.announcements.contains(where: { key.path.contains($0.prefix) })
        {
            return Self.allowing(methods, HTTPResponse(.noContent))
        }
        if let fallback = table.fallback(for: request.method) {
            return try await run(RouteMatch(fallback), request)
        }
        guard isKnown else { return .error(.notFound, "Not found.", for: request) }
        return Self.allowing(
            methods, .error(.methodNotAllowed, "Method not allowed.", for: request))
    }

    private static func allowing(_ methods: [HTTPMethod], _ response: HTTPResponse) -> HTTPResponse {
        var response = response
        let all = methods.contains(.options) ? methods : methods + [.options]
        response.fields.append(.allow, all.map(\.rawValue).joined(separator: ", "))
        return response
    }

    /// Runs the action and converts its errors to responses.
    private func run(_ answer: RouteMatch, _ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        do {
            let response = try await answer.respond(request, temporaryFiles ?? .none)
            return answer.isMounted ? response : response.conditional(for: request)
        } catch let error as HTTPError {
            if error.isDisconnected { throw error }
            return .error(error.status, error.reason, for: request)
        } catch {
            if error is CancellationError, Task.isCancelled { throw .disconnected }
            let failure = HandlerFailure(error, request)
            report?(failure)
            return failure.response(to: request)
        }
    }
}

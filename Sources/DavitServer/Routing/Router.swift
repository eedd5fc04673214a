public import DavitHTTP

/// Gives each request to the handler that has its path.
///
/// ```swift
/// let router = Router { routes in
///     routes.get("/hello") { request in .text("Hello, \(request.query["name"] ?? "world")!") }
///     routes.post("/note", body: .form()) { request, form in try await save(form["text"]) }
///     routes.get(matching: { /\/users\/(\d+)/ }) { request, match in .text("User \(match.1)") }
///     routes.mount("/files", share)
/// }
/// ```
/// The route added last is asked first. Without a route for the path the answer is 404, without one for the method
/// there 405 with `Allow`, and 501 if the method has no route anywhere. OPTIONS is answered from the table.
///
/// A response to GET that has an entity tag or Last-Modified is sent as the conditions of the request want it: see
/// ``DavitHTTP/HTTPResponse/entityTag(_:isWeak:)``.
///
/// An action that throws `HTTPError` answers with its status and reason. Any other error becomes 500 with a request id
/// and nothing else; the error goes to `report` together with that id.
public struct Router: Handler {
    private var table: RouteTable
    private var report: (@Sendable (HandlerFailure) -> Void)?
    private var temporaryFiles: TemporaryFiles?

    /// - Parameters:
    ///   - temporaryFiles: where readers of bodies put what is too long for memory; nil for what a server that the router
    ///     is mounted in has for that.
    ///   - report: called on the event loop for each error an action did not expect; must not block. Without it a
    ///     server that the router is mounted in logs them.
    ///   - build: adds the routes; later there are no others.
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

    /// What its mounts announce.
    public var announcedFields: HTTPFields {
        table.announcements.reduce(into: HTTPFields()) { $0.appendMissing($1.fields) }
    }

    /// Asks what is mounted at the path, where that is sure without asking code of the application.
    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        // Mounts below have their say about OPTIONS.
        guard request.method != .options, request.method != .connect,
            let (path, endsInSlash) = try? request.target.resourcePath()
        else { return nil }
        let key = RouteTable.Key(path: path, endsInSlash: endsInSlash)
        return table.mount(for: request, at: key)?.respondAtOnce(to: request)
    }

    /// - Throws: ``DavitHTTP/HTTPError/disconnected`` only, and 400 for a path no resource can have.
    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        // Of CONNECT, too, no part is a path (RFC 9112 §3.2.3).
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
            return .error(.notImplemented, "This server does not know the method.", for: request)
        }
        let methods = isAboutServer ? table.allMethods : table.methods(at: key, for: request)
        let isKnown = isAboutServer || !methods.isEmpty
        if request.method == .options,
            isKnown || table.announcements.contains(where: { key.path.contains($0.prefix) })
        {
            return Self.allowing(methods, HTTPResponse(.noContent))
        }
        if let fallback = table.fallback(for: request.method) {
            return try await run(RouteAnswer(fallback), request)
        }
        guard isKnown else { return .error(.notFound, "There is nothing here.", for: request) }
        return Self.allowing(
            methods, .error(.methodNotAllowed, "That is not possible here.", for: request))
    }

    private static func allowing(_ methods: [HTTPMethod], _ response: HTTPResponse) -> HTTPResponse {
        var response = response
        let all = methods.contains(.options) ? methods : methods + [.options]
        response.fields.append(.allow, all.map(\.rawValue).joined(separator: ", "))
        return response
    }

    /// The one place where the error of an action gets its status.
    private func run(_ answer: RouteAnswer, _ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
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

internal import DavitHTTP

/// A prefix and the handler for all paths at and below it.
struct Mount: ScannedRoute {
    let prefix: ResourcePath
    private let segmentCount: Int
    private let mountable: any Mountable
    /// The handler created by `mountable`. Until then, `mountable` itself if it is a handler, otherwise a
    /// placeholder that fails.
    private let handler: any Handler

    init(prefix: ResourcePath, _ mountable: any Mountable) {
        self.init(prefix: prefix, mountable, handler: mountable as? any Handler ?? NotCreated())
    }

    private init(prefix: ResourcePath, _ mountable: any Mountable, handler: any Handler) {
        self.prefix = prefix
        self.mountable = mountable
        self.handler = handler
        segmentCount = prefix.segments.count
    }

    /// Returns this mount with its handler created.
    /// - Parameter others: the prefixes of mounts with higher priority.
    func made(in environment: ServerEnvironment, behind others: [ResourcePath]) throws -> Mount {
        let environment = environment.below(prefix, hiding: others)
        return Mount(prefix: prefix, mountable, handler: try mountable.handler(in: environment))
    }

    var method: HTTPMethod? { nil }

    func answer(to subject: inout RouteSubject) -> RouteMatch? {
        guard prefix.contains(subject.key.path) else { return nil }
        let (handler, segmentCount) = (handler, segmentCount)
        return RouteMatch(isMounted: true) { request, _ in
            let mount = request.enterMount(segments: segmentCount)
            // Restore the path for the access log and for middleware around the router.
            defer { request.leaveMount(mount) }
            return try await handler.respond(to: request)
        }
    }

    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        let mount = request.enterMount(segments: segmentCount)
        defer { request.leaveMount(mount) }
        return handler.respondAtOnce(to: request)
    }
}

/// A placeholder for a value mounted in a router that has not been attached to a server.
private struct NotCreated: Handler {
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(.internalServerError, "This mount requires a server.")
    }
}

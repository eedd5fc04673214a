internal import DavitHTTP

/// A prefix, and what answers at and below it.
struct Mount: ScannedRoute {
    let prefix: ResourcePath
    private let segmentCount: Int
    private let mountable: any Mountable
    /// What `mountable` has become; until then only a handler answers.
    private let handler: any Handler

    init(prefix: ResourcePath, _ mountable: any Mountable) {
        self.init(prefix: prefix, mountable, handler: mountable as? any Handler ?? Unmade())
    }

    private init(prefix: ResourcePath, _ mountable: any Mountable, handler: any Handler) {
        self.prefix = prefix
        self.mountable = mountable
        self.handler = handler
        segmentCount = prefix.segments.count
    }

    /// - Parameter others: the prefixes of the mounts that are asked before.
    func made(in environment: ServerEnvironment, behind others: [ResourcePath]) throws -> Mount {
        let environment = environment.below(prefix, hiding: others)
        return Mount(prefix: prefix, mountable, handler: try mountable.handler(in: environment))
    }

    var method: HTTPMethod? { nil }

    func answer(to subject: inout RouteSubject) -> RouteAnswer? {
        guard prefix.contains(subject.key.path) else { return nil }
        let (handler, segmentCount) = (handler, segmentCount)
        return RouteAnswer(isMounted: true) { request in
            let place = request.enterMount(segments: segmentCount)
            // For the access log, and for whatever wraps the router.
            defer { request.leaveMount(place) }
            return try await handler.respond(to: request)
        }
    }

    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        let place = request.enterMount(segments: segmentCount)
        defer { request.leaveMount(place) }
        return handler.respondAtOnce(to: request)
    }
}

/// Stands where a value is mounted in a router that no server has taken.
private struct Unmade: Handler {
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(.internalServerError, "What is mounted here needs a server.")
    }
}

internal import DavitHTTP

/// A prefix and the handler for all paths at and below it.
struct Mount: ScannedRoute {
    let prefix: ResourcePath
    private let ignoresCase: Bool
    private let segmentCount: Int
    private let mountable: any Mountable
    /// Whether a server has created ``handler``.
    let isMade: Bool
    /// The handler created by `mountable`. Before its creation, `mountable` itself if it is a handler,
    /// otherwise a placeholder that responds with 500.
    private let handler: any Handler

    init(prefix: ResourcePath, ignoresCase: Bool, _ mountable: any Mountable) {
        self.init(
            prefix: prefix, ignoresCase: ignoresCase, mountable,
            handler: mountable as? any Handler ?? NotCreated(), isMade: false)
    }

    private init(
        prefix: ResourcePath, ignoresCase: Bool, _ mountable: any Mountable, handler: any Handler,
        isMade: Bool
    ) {
        self.prefix = prefix
        self.ignoresCase = ignoresCase
        self.mountable = mountable
        self.handler = handler
        self.isMade = isMade
        segmentCount = prefix.segments.count
    }

    /// Whether only a server can create the handler.
    var requiresServer: Bool { handler is NotCreated }

    /// Returns this mount with its handler created.
    /// - Parameter others: the prefixes of mounts with higher priority.
    func made(in environment: ServerEnvironment, behind others: [ResourcePath]) throws -> Mount {
        let environment = environment.below(prefix, hiding: others)
        return Mount(
            prefix: prefix, ignoresCase: ignoresCase, mountable,
            handler: try mountable.handler(in: environment),
            isMade: true)
    }

    var method: HTTPMethod? { nil }
    var path: ResourcePath? { prefix }

    func answer(to subject: inout RouteSubject) -> RouteMatch? {
        let isInside =
            ignoresCase ? prefix.lowercased().contains(subject.folded) : prefix.contains(subject.key.path)
        return isInside ? .mount(self) : nil
    }

    /// Calls the handler with the path below the prefix.
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        try request.whileMounted(request.enterMount(segments: segmentCount)) { () throws(HTTPError) in
            try handler.respond(to: request)
        }
    }
}

extension HTTPRequest {
    /// Calls `respond` inside a mount. The path is restored afterwards, also after pending work, for the access
    /// log and for middleware around the mount.
    /// - Parameter position: the result of entering the mount.
    func whileMounted(
        _ position: MountPosition, _ respond: () throws(HTTPError) -> Reply
    ) throws(HTTPError) -> Reply {
        let reply: Reply
        do throws(HTTPError) { reply = try respond() } catch {
            leaveMount(position)
            throw error
        }
        let inside = leaveMount(position)
        guard case .pending(let work) = reply else { return reply }
        return .pending { () async throws(HTTPError) in
            let outside = self.resumeMount(inside)
            defer { self.leaveMount(outside) }
            return try await work()
        }
    }
}

/// A placeholder for a value mounted in a router that has not been attached to a server.
private struct NotCreated: Handler {
    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        throw HTTPError(.internalServerError, "This mount has not been attached to a server.")
    }
}

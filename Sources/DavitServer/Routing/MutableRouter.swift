public import DavitHTTP
internal import Synchronization

/// A router whose routes can be added and removed while the server runs.
///
/// ```swift
/// let router = MutableRouter { routes in
///     routes.get("/status") { _ in .text("starting") }
/// }
/// let server = try WebServer(router)
/// try router.update { routes in
///     routes.remove(.get, "/status")
///     routes.get("/status") { _ in .text("ready") }
/// }
/// ```
/// Requests that arrive after an update use the new routes; earlier ones are completed with the routes that
/// they began with. Otherwise it behaves like ``Router``.
public final class MutableRouter: Handler {
    private struct State {
        var routes: Routes
        /// One for each mount of this router, and one for requests without a server.
        var attached: [AttachedRouter]
    }

    private let state: Mutex<State>
    private let detached: AttachedRouter
    private let temporaryFiles: TemporaryFiles?
    private let report: (@Sendable (HandlerFailure) -> Void)?

    /// - Parameters:
    ///   - temporaryFiles: as for ``Router``.
    ///   - report: as for ``Router``.
    ///   - build: adds the first routes.
    public init(
        temporaryFiles: TemporaryFiles? = nil, report: (@Sendable (HandlerFailure) -> Void)? = nil,
        _ build: (inout Routes) -> Void
    ) {
        var routes = Routes()
        build(&routes)
        self.temporaryFiles = temporaryFiles
        self.report = report
        detached = AttachedRouter(Router(routes, temporaryFiles: temporaryFiles, report: report), in: nil)
        state = Mutex(State(routes: routes, attached: [detached]))
    }

    public func handler(in environment: ServerEnvironment) throws -> any Handler {
        try state.withLock { state in
            let router = try router(state.routes).made(in: environment)
            let attached = AttachedRouter(router, in: environment)
            state.attached.append(attached)
            return attached
        }
    }

    /// The fields that the mounted applications announce.
    public var announcedFields: HTTPFields { detached.current.announcedFields }

    /// - Throws: as ``Router/respond(to:)``.
    public func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        try detached.respond(to: request)
    }

    /// Changes the routes for requests that arrive after this call. Updates run one after another; an update
    /// must not call this method.
    ///
    /// Values that a server must open, such as shares, can be mounted only by the initializer; mounting one
    /// here traps. Removing a share only removes the route to it: its files stay open until the server is
    /// released.
    /// - Parameter change: adds and removes routes.
    /// - Throws: any error of a mounted handler that cannot be attached to the server; the routes are then
    ///   unchanged.
    public func update(_ change: (inout Routes) -> Void) throws {
        try state.withLock { state in
            var routes = state.routes
            change(&routes)
            let router = router(routes)
            let updated = try state.attached.map { try $0.attaching(router) }
            for (attached, router) in zip(state.attached, updated) { attached.current = router }
            state.routes = routes
        }
    }

    private func router(_ routes: Routes) -> Router {
        Router(routes, temporaryFiles: temporaryFiles, report: report)
    }
}

/// The current router of one mount.
private final class AttachedRouter: Handler {
    private let router: Mutex<Router>
    /// Nil without a server.
    private let environment: ServerEnvironment?

    init(_ router: Router, in environment: ServerEnvironment?) {
        self.router = Mutex(router)
        self.environment = environment
    }

    var current: Router {
        get { router.withLock { $0 } }
        set { router.withLock { $0 = newValue } }
    }

    var announcedFields: HTTPFields { current.announcedFields }

    func respond(to request: HTTPRequest) throws(HTTPError) -> Reply { try current.respond(to: request) }

    /// Returns `router` with the handlers of this mount.
    func attaching(_ router: Router) throws -> Router {
        guard let environment else { return router }
        let router = router.takingHandlers(from: current)
        if let path = router.mountRequiringServer {
            preconditionFailure("\(path): mount shares in the initializer of MutableRouter")
        }
        return try router.made(in: environment)
    }
}

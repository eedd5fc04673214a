public import DavitHTTP

/// What makes a response out of a request; any error may be thrown, see ``Router``.
public typealias RouteAction = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// The same, with the place that a body may need; closures of this type have no capture list, see ``RouteAnswer``.
typealias FullRouteAction = @Sendable (HTTPRequest, TemporaryFiles) async throws -> HTTPResponse

/// The routes of a ``Router``, while they are collected.
///
/// Paths are given as people write them, not percent-encoded, and begin with a slash. They match in their case
/// and with their slash at the end: `/notes` and `/notes/` are two resources. A path that no request can have,
/// like one with `..`, is a mistake in the program and stops it.
public struct Routes {
    var table = RouteTable()
    /// The prefix of the group.
    private var base: ResourcePath

    init(base: ResourcePath = .root) { self.base = base }

    /// A route for GET answers HEAD too; the content is left out when it is sent. True unless you say otherwise.
    public var answersHeadWithGet: Bool {
        get { table.answersHeadWithGet }
        set { table.answersHeadWithGet = newValue }
    }

    // MARK: By method and exact path

    /// A route for GET, and for HEAD unless ``answersHeadWithGet`` is off.
    public mutating func get(_ path: String, _ action: @escaping RouteAction) { on(.get, path, action) }
    /// A route for POST that reads the content itself, if at all.
    public mutating func post(_ path: String, _ action: @escaping RouteAction) { on(.post, path, action) }
    /// A route for PUT that reads the content itself, if at all.
    public mutating func put(_ path: String, _ action: @escaping RouteAction) { on(.put, path, action) }
    /// A route for PATCH that reads the content itself, if at all.
    public mutating func patch(_ path: String, _ action: @escaping RouteAction) { on(.patch, path, action) }
    /// A route for DELETE.
    public mutating func delete(_ path: String, _ action: @escaping RouteAction) { on(.delete, path, action) }

    /// Costs the same among ten routes and among thousands.
    public mutating func on(_ method: HTTPMethod, _ path: String, _ action: @escaping RouteAction) {
        add(method, path) { request, _ in try await action(request) }
    }

    private mutating func add(_ method: HTTPMethod, _ path: String, _ action: @escaping FullRouteAction) {
        let (relative, endsInSlash) = Self.parse(path)
        table.add(
            method, at: RouteTable.Key(path: joined(relative), endsInSlash: endsInSlash), action: action)
    }

    /// - Parameter body: how the action wants the content; it is read when the route has been chosen.
    public mutating func on<Value>(
        _ method: HTTPMethod, _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        add(method, path) { request, files in
            try await action(request, try await body.read(request, files))
        }
    }

    /// A route for POST that gets its content as `body` reads it.
    public mutating func post<Value>(
        _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        on(.post, path, body: body, action)
    }

    /// A route for PUT that gets its content as `body` reads it.
    public mutating func put<Value>(
        _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        on(.put, path, body: body, action)
    }

    // MARK: By pattern

    /// For paths that match a pattern as a whole; in a group, the path below the group's prefix.
    ///
    /// Paths that are not UTF-8 match no pattern. Each pattern that is asked costs the matching; one that backtracks
    /// without end on a long path does so on the event loop.
    /// - Parameters:
    ///   - pattern: makes the expression; called once for each thread that matches at the same time, because a
    ///     `Regex` cannot be shared.
    ///   - action: gets what the pattern has captured, as `Regex.Match.output`.
    public mutating func on<Output: Sendable>(
        _ method: HTTPMethod, matching pattern: @escaping @Sendable () -> Regex<Output>,
        _ action: @escaping @Sendable (HTTPRequest, Output) async throws -> HTTPResponse
    ) {
        table.add(
            PatternRoute(method: method, base: base, pattern: pattern) { request, output, _ in
                try await action(request, output)
            })
    }

    /// For paths that match a pattern, with the content as `body` reads it.
    public mutating func on<Output: Sendable, Value>(
        _ method: HTTPMethod, matching pattern: @escaping @Sendable () -> Regex<Output>,
        body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Output, Value) async throws -> HTTPResponse
    ) {
        table.add(
            PatternRoute(method: method, base: base, pattern: pattern) { request, output, files in
                try await action(request, output, try await body.read(request, files))
            })
    }

    /// For GET, and HEAD, of paths that match a pattern.
    public mutating func get<Output: Sendable>(
        matching pattern: @escaping @Sendable () -> Regex<Output>,
        _ action: @escaping @Sendable (HTTPRequest, Output) async throws -> HTTPResponse
    ) {
        on(.get, matching: pattern, action)
    }

    // MARK: By anything in the head

    /// For requests about which `condition` says yes; it sees the head alone, before anything of the body is read.
    public mutating func on(
        where condition: @escaping @Sendable (RequestHead) -> Bool, _ action: @escaping RouteAction
    ) {
        table.add(
            ConditionRoute(base: base, condition: condition) { request, _ in try await action(request) })
    }

    /// For requests about which `condition` says yes, with the content as `body` reads it.
    public mutating func on<Value>(
        where condition: @escaping @Sendable (RequestHead) -> Bool, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        table.add(
            ConditionRoute(base: base, condition: condition) { request, files in
                try await action(request, try await body.read(request, files))
            })
    }

    // MARK: Prefixes

    /// Adds routes whose paths all begin with `prefix`.
    public mutating func group(_ prefix: String, _ build: (inout Routes) -> Void) {
        let outer = base
        base = joined(Self.parse(prefix).path)
        build(&self)
        base = outer
    }

    /// Gives everything at and below `prefix` to something else, whatever the method: a handler, or a value that a
    /// server makes one of. Only a server can: a router on its own answers 500 below such a value.
    ///
    /// Routes and mounts for paths there that were added before are never asked again, of which a server warns in its log:
    /// mount at `/` first, and then what is beside it.
    ///
    /// The handler sees the path below the prefix; ``DavitHTTP/HTTPRequest/mountPath`` has the prefix as sent.
    /// - Parameter optionsFields: stand on answers to OPTIONS for `*` and for all paths above the prefix, beside what
    ///   is announced by itself (``Mountable/announcedFields``).
    public mutating func mount(
        _ prefix: String, _ mountable: some Mountable, optionsFields: HTTPFields = HTTPFields()
    ) {
        let prefix = joined(Self.parse(prefix).path)
        table.add(Mount(prefix: prefix, mountable))
        var fields = optionsFields
        fields.appendMissing(mountable.announcedFields)
        if !fields.encoded.isEmpty {
            table.announcements.append(RouteTable.Announcement(prefix: prefix, fields: fields))
        }
    }

    // MARK: The rest

    /// Answers requests with this method for which no other route is there.
    public mutating func fallback(_ method: HTTPMethod, _ action: @escaping RouteAction) {
        table.fallbacks[method] = { request, _ in try await action(request) }
    }

    private func joined(_ path: ResourcePath) -> ResourcePath {
        path.rebased(from: .root, to: base) ?? path
    }

    private static func parse(_ path: String) -> (path: ResourcePath, endsInSlash: Bool) {
        precondition(path.utf8.first == UInt8(ascii: "/"), "the path of a route begins with a slash")
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        guard let parsed = ResourcePath(segments: segments) else {
            preconditionFailure("no request has this path: \(path)")
        }
        return (parsed, path.utf8.last == UInt8(ascii: "/"))
    }
}

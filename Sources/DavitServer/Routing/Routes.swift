public import DavitHTTP

/// Returns the response to a request. May throw any error; see ``Router``.
public typealias RouteAction = @Sendable (HTTPRequest) async throws -> HTTPResponse

/// A ``RouteAction`` that also receives storage for the body. Closures of this type must not have a capture
/// list; see ``RouteMatch``.
typealias FullRouteAction = @Sendable (HTTPRequest, TemporaryFiles) async throws -> HTTPResponse

/// Collects the routes of a ``Router``.
///
/// Paths are written decoded, not percent-encoded, and begin with a slash. Matching is case-sensitive and
/// includes the trailing slash: `/notes` and `/notes/` are different resources.
///
/// A segment in braces is a path parameter: `/users/{id}` matches `/users/` followed by exactly one segment
/// of valid UTF-8, and ``DavitHTTP/HTTPRequest/parameters`` contains its decoded value. As with all routes,
/// the last one added is tried first: add `/users/me` after `/users/{id}`.
///
/// A path that no request can have, such as one with `..`, and a malformed parameter are programming errors
/// and trap.
public struct Routes: Sendable {
    var table = RouteTable()
    /// The prefix of the current group.
    private var base: ResourcePath

    init(base: ResourcePath = .root) { self.base = base }

    /// Whether routes for GET also handle HEAD; the content is then not sent. True by default.
    public var answersHeadWithGet: Bool {
        get { table.answersHeadWithGet }
        set { table.answersHeadWithGet = newValue }
    }

    /// Whether paths that differ only in case are equal; false by default. Set it before adding routes.
    ///
    /// Applies to the paths of routes, groups, mounts and fallbacks. The values of path parameters keep their
    /// case, and patterns decide themselves: `/(?i:users)/`.
    public var ignoresCase: Bool {
        get { table.ignoresCase }
        set { table.ignoresCase = newValue }
    }

    // MARK: By method and path

    /// Adds a route for GET, and for HEAD unless ``answersHeadWithGet`` is false.
    public mutating func get(_ path: String, _ action: @escaping RouteAction) { on(.get, path, action) }
    /// Adds a route for HEAD that takes precedence over earlier routes for GET.
    public mutating func head(_ path: String, _ action: @escaping RouteAction) { on(.head, path, action) }
    /// Adds a route for POST without a body reader.
    public mutating func post(_ path: String, _ action: @escaping RouteAction) { on(.post, path, action) }
    /// Adds a route for PUT without a body reader.
    public mutating func put(_ path: String, _ action: @escaping RouteAction) { on(.put, path, action) }
    /// Adds a route for PATCH without a body reader.
    public mutating func patch(_ path: String, _ action: @escaping RouteAction) { on(.patch, path, action) }
    /// Adds a route for DELETE.
    public mutating func delete(_ path: String, _ action: @escaping RouteAction) { on(.delete, path, action) }
    /// Adds a route for OPTIONS. It replaces the default response, which lists the methods of the path.
    public mutating func options(_ path: String, _ action: @escaping RouteAction) {
        on(.options, path, action)
    }
    /// Adds a route for every method, including OPTIONS and methods without a case in
    /// ``DavitHTTP/HTTPMethod``.
    public mutating func any(_ path: String, _ action: @escaping RouteAction) {
        add(nil, path) { request, _ in try await action(request) }
    }

    /// Adds a route for a method and a path. Without path parameters, the cost of the lookup does not depend
    /// on the number of routes; routes with parameters are tried one by one.
    public mutating func on(_ method: HTTPMethod, _ path: String, _ action: @escaping RouteAction) {
        add(method, path) { request, _ in try await action(request) }
    }

    private mutating func add(_ method: HTTPMethod?, _ path: String, _ action: @escaping FullRouteAction) {
        let (relative, endsInSlash) = Self.parse(path)
        let path = joined(relative)
        if let pattern = PathPattern(path, endsInSlash: endsInSlash, ignoresCase: ignoresCase) {
            table.add(ParameterRoute(method: method, pattern: pattern, action: action))
        } else {
            table.add(method, at: RouteTable.Key(path: path, endsInSlash: endsInSlash), action: action)
        }
    }

    /// Adds a route that reads its content with `body`.
    /// - Parameter body: reads the content once the route has been selected.
    public mutating func on<Value>(
        _ method: HTTPMethod, _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        add(method, path) { request, files in
            try await action(request, try await body.read(request, files))
        }
    }

    /// Adds a route for POST that reads its content with `body`.
    public mutating func post<Value>(
        _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        on(.post, path, body: body, action)
    }

    /// Adds a route for PUT that reads its content with `body`.
    public mutating func put<Value>(
        _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        on(.put, path, body: body, action)
    }

    /// Adds a route for PATCH that reads its content with `body`.
    public mutating func patch<Value>(
        _ path: String, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        on(.patch, path, body: body, action)
    }

    // MARK: By pattern

    /// Adds a route for paths that match a pattern completely; in a group, the pattern applies to the path
    /// below the group's prefix.
    ///
    /// Paths that are not valid UTF-8 match no pattern. Matching runs on the event loop, once for each
    /// pattern tried; avoid patterns with excessive backtracking on long paths.
    /// - Parameters:
    ///   - pattern: creates the regular expression. Called once for each thread that matches concurrently,
    ///     because a `Regex` cannot be shared.
    ///   - action: receives the captures as `Regex.Match.output`.
    public mutating func on<Output: Sendable>(
        _ method: HTTPMethod, matching pattern: @escaping @Sendable () -> Regex<Output>,
        _ action: @escaping @Sendable (HTTPRequest, Output) async throws -> HTTPResponse
    ) {
        table.add(
            PatternRoute(method: method, base: literalBase, pattern: pattern) { request, output, _ in
                try await action(request, output)
            })
    }

    /// Adds a route for paths that match a pattern, reading the content with `body`.
    public mutating func on<Output: Sendable, Value>(
        _ method: HTTPMethod, matching pattern: @escaping @Sendable () -> Regex<Output>,
        body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Output, Value) async throws -> HTTPResponse
    ) {
        table.add(
            PatternRoute(method: method, base: literalBase, pattern: pattern) { request, output, files in
                try await action(request, output, try await body.read(request, files))
            })
    }

    /// Adds a route for GET of paths that match a pattern, and for HEAD unless ``answersHeadWithGet`` is
    /// false.
    public mutating func get<Output: Sendable>(
        matching pattern: @escaping @Sendable () -> Regex<Output>,
        _ action: @escaping @Sendable (HTTPRequest, Output) async throws -> HTTPResponse
    ) {
        on(.get, matching: pattern, action)
    }

    // MARK: By anything in the head

    /// Adds a route for requests of any method that satisfy `condition`, which receives only the head, before
    /// any content is read.
    public mutating func on(
        where condition: @escaping @Sendable (RequestHead) -> Bool, _ action: @escaping RouteAction
    ) {
        table.add(
            ConditionRoute(base: literalBase, condition: condition) { request, _ in try await action(request)
            })
    }

    /// Adds a route for requests that satisfy `condition`, reading the content with `body`.
    public mutating func on<Value>(
        where condition: @escaping @Sendable (RequestHead) -> Bool, body: BodyReader<Value>,
        _ action: @escaping @Sendable (HTTPRequest, Value) async throws -> HTTPResponse
    ) {
        table.add(
            ConditionRoute(base: literalBase, condition: condition) { request, files in
                try await action(request, try await body.read(request, files))
            })
    }

    // MARK: Prefixes

    /// Adds routes whose paths all begin with `prefix`, which may contain path parameters. A group with
    /// parameters can contain only routes for paths: no patterns, conditions, mounts or fallbacks.
    public mutating func group(_ prefix: String, _ build: (inout Routes) -> Void) {
        let outer = base
        base = joined(Self.parse(prefix).path)
        build(&self)
        base = outer
    }

    /// Routes all requests at and below `prefix`, with any method, to a handler or to a value from which a
    /// server creates one. A router that is not attached to a server responds to requests for such a value
    /// with 500.
    ///
    /// Routes and mounts added earlier for paths at or below `prefix` become unreachable; the server logs a
    /// warning. Mount at `/` first, then at more specific paths.
    ///
    /// The handler sees the path relative to the prefix; ``DavitHTTP/HTTPRequest/mountPath`` contains the
    /// prefix as sent.
    /// - Parameter optionsFields: fields added to responses to OPTIONS for `*` and for all paths above the
    ///   prefix, in addition to ``Mountable/announcedFields``.
    public mutating func mount(
        _ prefix: String, _ mountable: some Mountable, optionsFields: HTTPFields = HTTPFields()
    ) {
        let prefix = Self.literal(joined(Self.parse(prefix).path))
        table.add(Mount(prefix: prefix, ignoresCase: ignoresCase, mountable))
        var fields = optionsFields
        fields.appendMissing(mountable.announcedFields)
        if !fields.encoded.isEmpty {
            table.announcements.append(RouteTable.Announcement(prefix: prefix, fields: fields))
        }
    }

    // MARK: Fallbacks

    /// Adds an action for requests that match no route and whose method has no separate fallback; in a group,
    /// for those at or below the group's prefix. The action also replaces the responses 405 and 501. OPTIONS
    /// for a path with routes, or above a mount that announces fields, is still answered from the route
    /// table.
    public mutating func fallback(_ action: @escaping RouteAction) { addFallback(nil, action) }

    /// Adds an action for requests with this method that match no route; in a group, for those at or below
    /// the group's prefix.
    public mutating func fallback(_ method: HTTPMethod, _ action: @escaping RouteAction) {
        addFallback(method, action)
    }

    private mutating func addFallback(_ method: HTTPMethod?, _ action: @escaping RouteAction) {
        table.fallbacks.append(
            .init(prefix: literalBase, method: method) { request, _ in try await action(request) })
    }

    // MARK: Removing

    /// Removes all routes with this method and this path, with path parameters of the same names. Patterns
    /// and conditions have no path, so only ``removeAll()`` removes them.
    /// - Returns: the number of removed routes.
    @discardableResult
    public mutating func remove(_ method: HTTPMethod, _ path: String) -> Int { removeRoutes(method, path) }

    /// Removes all routes for every method, and all mounts, with this path.
    /// - Returns: the number of removed routes and mounts.
    @discardableResult
    public mutating func removeAny(_ path: String) -> Int { removeRoutes(nil, path) }

    private mutating func removeRoutes(_ method: HTTPMethod?, _ path: String) -> Int {
        let (relative, endsInSlash) = Self.parse(path)
        return table.remove(method, at: RouteTable.Key(path: joined(relative), endsInSlash: endsInSlash))
    }

    /// Removes all routes, mounts and fallbacks; ``answersHeadWithGet`` and ``ignoresCase`` are kept.
    public mutating func removeAll() { table.removeAll() }

    /// The prefix of the current group, for routes that cannot have path parameters.
    private var literalBase: ResourcePath {
        let base = Self.literal(base)
        return ignoresCase ? base.lowercased() : base
    }

    private static func literal(_ path: ResourcePath) -> ResourcePath {
        precondition(
            PathPattern(path) == nil,
            "\(path): patterns, conditions, mounts and fallbacks cannot have path parameters")
        return path
    }

    private func joined(_ path: ResourcePath) -> ResourcePath {
        path.rebased(from: .root, to: base) ?? path
    }

    private static func parse(_ path: String) -> (path: ResourcePath, endsInSlash: Bool) {
        precondition(path.utf8.first == UInt8(ascii: "/"), "a route path must begin with a slash")
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        guard let parsed = ResourcePath(segments: segments) else {
            preconditionFailure("invalid route path: \(path)")
        }
        return (parsed, path.utf8.last == UInt8(ascii: "/"))
    }
}

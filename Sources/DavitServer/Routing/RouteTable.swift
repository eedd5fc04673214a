internal import DavitHTTP

/// All routes, in order of priority: the last one added is tried first.
///
/// Exact paths are stored in a dictionary. Of the other routes, only those added after the matching exact
/// route are tried before it.
struct RouteTable: Sendable {
    struct Key: Hashable, Sendable {
        var path: ResourcePath
        /// Always true for the root.
        var endsInSlash: Bool
    }

    /// Fields that a mounted handler adds to responses to OPTIONS above its prefix.
    struct Announcement: Sendable {
        var prefix: ResourcePath
        var fields: HTTPFields
    }

    /// An action for requests below a prefix that match no route.
    struct Fallback: Sendable {
        var prefix: ResourcePath
        /// Nil for every method that has no separate fallback.
        var method: HTTPMethod?
        var action: FullRouteAction
    }

    private struct ExactRoute: Sendable {
        var order: Int
        /// Nil for every method.
        var method: HTTPMethod?
        var action: FullRouteAction
    }

    private struct OrderedRoute: Sendable {
        var order: Int
        var route: any ScannedRoute
        /// The route, if it is a mount.
        var mount: Mount?
    }

    var answersHeadWithGet = true
    /// Whether paths that differ only in case are equal. Must be set before routes are added.
    var ignoresCase = false {
        didSet {
            precondition(
                exact.isEmpty && scanned.isEmpty && fallbacks.isEmpty, "set ignoresCase before adding routes")
        }
    }
    var fallbacks: [Fallback] = []
    var announcements: [Announcement] = []
    /// In `exact` and `scanned`, the route added last comes first.
    private var exact: [Key: [ExactRoute]] = [:]
    private var scanned: [OrderedRoute] = []
    private var count = 0
    /// Whether any route accepts every method.
    private var hasRouteForEveryMethod = false

    /// - Parameter method: nil for every method.
    mutating func add(_ method: HTTPMethod?, at key: Key, action: @escaping FullRouteAction) {
        let route = ExactRoute(order: count, method: method, action: action)
        exact[folded(Self.normal(key)), default: []].insert(route, at: 0)
        if method == nil { hasRouteForEveryMethod = true }
        count += 1
    }

    mutating func add(_ route: any ScannedRoute) {
        scanned.insert(OrderedRoute(order: count, route: route), at: 0)
        if route.method == nil { hasRouteForEveryMethod = true }
        count += 1
    }

    /// Removes all routes and mounts with this path, as far as case matters, and this method.
    /// - Parameter method: nil for the routes and mounts that accept every method.
    /// - Returns: the number of removed routes and mounts.
    mutating func remove(_ method: HTTPMethod?, at key: Key) -> Int {
        let (key, before) = (folded(Self.normal(key)), exact.values.reduce(scanned.count) { $0 + $1.count })
        exact[key]?.removeAll { $0.method == method }
        if exact[key]?.isEmpty == true { exact[key] = nil }
        scanned = scanned.filter { candidate in
            candidate.route.method != method || candidate.route.path.map(folded) != key.path
                || candidate.mount == nil && candidate.route.endsInSlash != key.endsInSlash
        }
        let paths = scanned.compactMap(\.mount?.prefix)
        announcements.removeAll { !paths.contains($0.prefix) }
        hasRouteForEveryMethod =
            scanned.contains { $0.route.method == nil }
            || exact.values.contains { $0.contains { $0.method == nil } }
        return before - exact.values.reduce(scanned.count) { $0 + $1.count }
    }

    mutating func add(_ mount: Mount) {
        scanned.insert(OrderedRoute(order: count, route: mount, mount: mount), at: 0)
        hasRouteForEveryMethod = true
        count += 1
    }

    mutating func removeAll() {
        fallbacks = []
        announcements = []
        exact = [:]
        scanned = []
        hasRouteForEveryMethod = false
    }

    /// The prefix of a mounted value whose handler only a server can create, and that has none; nil if there
    /// is no such value.
    var mountRequiringServer: ResourcePath? {
        scanned.lazy.compactMap(\.mount).first(where: \.requiresServer)?.prefix
    }

    /// Uses the handlers that `other` has created for the same mounts.
    mutating func takeHandlers(from other: RouteTable) {
        for index in scanned.indices {
            guard let order = scanned[index].mount.map({ _ in scanned[index].order }),
                let made = other.scanned.first(where: { $0.order == order })
            else { continue }
            scanned[index] = made
        }
    }

    /// Creates the handlers of all mounted values that have none.
    mutating func make(in environment: ServerEnvironment) throws {
        for index in scanned.indices {
            let others = scanned[..<index].compactMap(\.mount?.prefix)
            guard let unmade = scanned[index].mount, !unmade.isMade else { continue }
            let mount = try unmade.made(in: environment, behind: others)
            scanned[index].route = mount
            scanned[index].mount = mount
            if let path = firstHidden(by: mount.prefix, before: scanned[index].order) {
                environment.log(
                    .warning, "mount hides an earlier route",
                    ["mount": mount.prefix.description, "hidden": path.description])
            }
        }
    }

    /// Returns the first path at or below `prefix` whose route was added before the mount and is therefore
    /// unreachable.
    private func firstHidden(by prefix: ResourcePath, before order: Int) -> ResourcePath? {
        let others = scanned.compactMap { $0.order < order ? $0.route.path : nil }
        let paths = exact.compactMap { key, routes in
            routes.contains { $0.order < order } ? key.path : nil
        }
        return (others + paths).filter { contains($0, in: prefix) }.min { $0.description < $1.description }
    }

    // MARK: Case

    /// Whether `path` is at or below `prefix`, as far as case matters.
    func contains(_ path: ResourcePath, in prefix: ResourcePath) -> Bool {
        folded(prefix).contains(folded(path))
    }

    /// Whether `prefix` is below `path`.
    func isAbove(_ path: ResourcePath, _ prefix: ResourcePath) -> Bool {
        folded(path) != folded(prefix) && contains(prefix, in: path)
    }

    private func folded(_ path: ResourcePath) -> ResourcePath { ignoresCase ? path.lowercased() : path }

    private func folded(_ key: Key) -> Key {
        ignoresCase ? Key(path: key.path.lowercased(), endsInSlash: key.endsInSlash) : key
    }

    // MARK: Finding

    /// Returns the match of the first route that matches; nil if no route does.
    func answer(to request: HTTPRequest, at key: Key) -> RouteMatch? {
        var subject = RouteSubject(request: request, key: key, ignoresCase: ignoresCase)
        let routes = ignoresCase ? exact[folded(key)] : exact[key]
        let indexed = routes?.first { accepts($0.method, request.method) }
        for candidate in scanned {
            if let indexed, candidate.order < indexed.order { break }
            if let method = candidate.route.method, !accepts(method, request.method) { continue }
            if let answer = candidate.route.answer(to: &subject) { return answer }
        }
        return indexed.map { .action($0.action) }
    }

    /// Returns the methods with a route at this path, in the order of ``DavitHTTP/HTTPMethod``. Tries every
    /// route.
    func methods(at key: Key, for request: HTTPRequest) -> [HTTPMethod] {
        var subject = RouteSubject(request: request, key: key, ignoresCase: ignoresCase)
        var found = Set((exact[folded(key)] ?? []).compactMap(\.method))
        for candidate in scanned {
            guard let method = candidate.route.method, !found.contains(method) else { continue }
            if candidate.route.answer(to: &subject) != nil { found.insert(method) }
        }
        return sorted(found)
    }

    /// The methods with a route or a fallback at any path.
    var allMethods: [HTTPMethod] {
        sorted(
            Set(exact.values.flatMap { $0.compactMap(\.method) } + scanned.compactMap(\.route.method))
                .union(fallbacks.compactMap(\.method)))
    }

    /// Whether the method is implemented at all (RFC 9110 §9.1). GET, HEAD and OPTIONS always are. A route
    /// for every method implements all methods with a case in ``DavitHTTP/HTTPMethod``.
    func knows(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get, .head, .options: return true
        case .other: break
        default: if hasRouteForEveryMethod { return true }
        }
        return allMethods.contains(method)
    }

    /// Returns the fallback of the innermost group that has one. Within a group, a fallback for the method takes
    /// precedence over a fallback for every method, and the one that was added last over earlier ones.
    /// - Parameter path: nil for a request about the server itself, to which fallbacks for every method do
    ///   not apply.
    func fallback(for method: HTTPMethod, at path: ResourcePath?) -> FullRouteAction? {
        var best: (action: FullRouteAction, depth: Int, precision: Int)?
        for candidate in fallbacks where contains(path ?? .root, in: candidate.prefix) {
            guard candidate.method.map({ accepts($0, method) }) ?? (path != nil) else { continue }
            let depth = candidate.prefix.depth
            let precision = candidate.method == nil ? 0 : candidate.method == method ? 2 : 1
            if let best, (depth, precision) < (best.depth, best.precision) { continue }
            best = (candidate.action, depth, precision)
        }
        return best?.action
    }

    private func accepts(_ route: HTTPMethod?, _ method: HTTPMethod) -> Bool {
        guard let route else { return true }
        return route == method || method == .head && route == .get && answersHeadWithGet
    }

    private func sorted(_ methods: Set<HTTPMethod>) -> [HTTPMethod] {
        var methods = methods
        if answersHeadWithGet, methods.contains(.get) { methods.insert(.head) }
        let named = HTTPMethod.named.map(\.method).filter { methods.contains($0) }
        return named + methods.subtracting(named).sorted { $0.rawValue < $1.rawValue }
    }

    static func normal(_ key: Key) -> Key {
        Key(path: key.path, endsInSlash: key.endsInSlash || key.path.isRoot)
    }
}

internal import DavitHTTP

/// All routes, and the order in which they are asked: the last one added comes first.
///
/// Exact paths stand in a dictionary. Of the others only those that were added after the one found there are asked
/// before it.
struct RouteTable: Sendable {
    struct Key: Hashable, Sendable {
        var path: ResourcePath
        /// Always true for the root.
        var endsInSlash: Bool
    }

    /// Fields that a mounted handler wants to stand on OPTIONS above its prefix.
    struct Announcement: Sendable {
        var prefix: ResourcePath
        var fields: HTTPFields
    }

    private struct ExactRoute: Sendable {
        var order: Int
        var method: HTTPMethod
        var action: RouteAction
    }

    private struct OrderedRoute: Sendable {
        var order: Int
        var route: any ScannedRoute
        /// The route, if it is a mount.
        var mount: Mount?
    }

    var answersHeadWithGet = true
    var fallbacks: [HTTPMethod: RouteAction] = [:]
    var announcements: [Announcement] = []
    /// Both with the last added first.
    private var exact: [Key: [ExactRoute]] = [:]
    private var scanned: [OrderedRoute] = []
    private var count = 0
    private var hasMounts = false

    mutating func add(_ method: HTTPMethod, at key: Key, action: @escaping RouteAction) {
        let route = ExactRoute(order: count, method: method, action: action)
        exact[Self.normal(key), default: []].insert(route, at: 0)
        count += 1
    }

    mutating func add(_ route: any ScannedRoute) {
        scanned.insert(OrderedRoute(order: count, route: route), at: 0)
        count += 1
    }

    mutating func add(_ mount: Mount) {
        scanned.insert(OrderedRoute(order: count, route: mount, mount: mount), at: 0)
        hasMounts = true
        count += 1
    }

    /// Makes handlers of all values that are mounted.
    mutating func make(in environment: ServerEnvironment) throws {
        for index in scanned.indices {
            let others = scanned[..<index].compactMap(\.mount?.prefix)
            guard let mount = try scanned[index].mount?.made(in: environment, behind: others) else {
                continue
            }
            scanned[index].route = mount
            scanned[index].mount = mount
            if let path = firstHidden(by: mount.prefix, before: scanned[index].order) {
                environment.log(
                    .warning, "a mount hides what was added before it",
                    ["mount": mount.prefix.description, "hidden": path.description])
            }
        }
    }

    /// A path that had a route before a mount was added there or above: that route is never asked again.
    private func firstHidden(by prefix: ResourcePath, before order: Int) -> ResourcePath? {
        let mounts = scanned.compactMap { $0.order < order ? $0.mount?.prefix : nil }
        let paths = exact.compactMap { key, routes in
            routes.contains { $0.order < order } ? key.path : nil
        }
        return (mounts + paths).filter { prefix.contains($0) }.min { $0.description < $1.description }
    }

    /// What answers the request; nil if no route does.
    func answer(to request: HTTPRequest, at key: Key) -> RouteAnswer? {
        var subject = RouteSubject(request: request, key: key)
        let indexed = exact[key]?.first { accepts($0.method, request.method) }
        for candidate in scanned {
            if let indexed, candidate.order < indexed.order { break }
            if let method = candidate.route.method, !accepts(method, request.method) { continue }
            if let answer = candidate.route.answer(to: &subject) { return answer }
        }
        return indexed.map { RouteAnswer($0.action) }
    }

    /// The mount that answers the request. Nil if none does, and if code of the application has a say in that: it is
    /// asked once for a request.
    func mount(for request: HTTPRequest, at key: Key) -> Mount? {
        guard hasMounts else { return nil }
        let indexed = exact[key]?.first { accepts($0.method, request.method) }
        for candidate in scanned {
            if let indexed, candidate.order < indexed.order { return nil }
            if let mount = candidate.mount {
                if mount.prefix.contains(key.path) { return mount }
            } else if candidate.route.method.map({ accepts($0, request.method) }) ?? true {
                return nil
            }
        }
        return nil
    }

    /// The methods that have a route at this path, in the order of ``DavitHTTP/HTTPMethod``; asks every route.
    func methods(at key: Key, for request: HTTPRequest) -> [HTTPMethod] {
        var subject = RouteSubject(request: request, key: key)
        var found = Set((exact[key] ?? []).map(\.method))
        for candidate in scanned {
            guard let method = candidate.route.method, !found.contains(method) else { continue }
            if candidate.route.answer(to: &subject) != nil { found.insert(method) }
        }
        return sorted(found)
    }

    /// The methods that have a route anywhere.
    var allMethods: [HTTPMethod] {
        sorted(
            Set(exact.values.flatMap { $0.map(\.method) } + scanned.compactMap(\.route.method))
                .union(fallbacks.keys))
    }

    /// True if the method means anything here (RFC 9110 §9.1). A route for all methods knows those with a name.
    func knows(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get, .head, .options: return true
        case .other: break
        default: if scanned.contains(where: { $0.route.method == nil }) { return true }
        }
        return allMethods.contains(method)
    }

    func fallback(for method: HTTPMethod) -> RouteAction? {
        if let action = fallbacks[method] { return action }
        return method == .head && answersHeadWithGet ? fallbacks[.get] : nil
    }

    private func accepts(_ route: HTTPMethod, _ method: HTTPMethod) -> Bool {
        route == method || method == .head && route == .get && answersHeadWithGet
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

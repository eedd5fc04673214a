internal import DavitHTTP
internal import Synchronization

/// The route that matches a request.
enum RouteMatch {
    /// The action of a route, bound to the values that the route extracted from the path. Closures must not
    /// have a capture list; with one, they would leave the executor of their caller.
    case action((HTTPRequest, TemporaryFiles) async throws -> HTTPResponse)
    /// A mount, which evaluates the preconditions of the request itself.
    case mount(Mount)
}

/// A route that must be tried individually because its path is not a fixed string.
protocol ScannedRoute: Sendable {
    /// The method of the route; nil for every method.
    var method: HTTPMethod? { get }
    /// The path of a route that a mount can hide; nil for patterns and conditions.
    var path: ResourcePath? { get }
    /// Whether ``path`` ends in a slash.
    var endsInSlash: Bool { get }
    /// Returns the match, or nil if the request does not match. Does not check the method.
    func answer(to subject: inout RouteSubject) -> RouteMatch?
}

extension ScannedRoute {
    var path: ResourcePath? { nil }
    var endsInSlash: Bool { false }
}

/// A request in the form that routes match against.
struct RouteSubject {
    let request: HTTPRequest
    let key: RouteTable.Key
    let ignoresCase: Bool
    /// The path as text, created when the first pattern needs it.
    private var wholeText: String??

    init(request: HTTPRequest, key: RouteTable.Key, ignoresCase: Bool) {
        self.request = request
        self.key = key
        self.ignoresCase = ignoresCase
    }

    /// The path to compare with prefixes: in lower case if case is ignored.
    var folded: ResourcePath { ignoresCase ? key.path.lowercased() : key.path }

    /// Returns the path relative to `base`; nil if it is outside `base` or not valid UTF-8.
    mutating func text(below base: ResourcePath) -> String? {
        if !base.isRoot {
            guard base.contains(folded),
                let path = ResourcePath(segments: key.path.segments.dropFirst(base.depth))
            else { return nil }
            return Self.text(path, key.endsInSlash)
        }
        if let wholeText { return wholeText }
        let text = Self.text(key.path, key.endsInSlash)
        wholeText = .some(text)
        return text
    }

    private static func text(_ path: ResourcePath, _ endsInSlash: Bool) -> String? {
        var bytes = [UInt8(ascii: "/")] + path.bytes
        if endsInSlash, !path.isRoot { bytes.append(UInt8(ascii: "/")) }
        return String(validating: bytes, as: UTF8.self)
    }
}

struct PatternRoute<Output: Sendable>: ScannedRoute {
    let method: HTTPMethod?
    private let base: ResourcePath
    private let patterns: PatternPool<Output>
    private let action: @Sendable (HTTPRequest, Output, TemporaryFiles) async throws -> HTTPResponse

    init(
        method: HTTPMethod, base: ResourcePath, pattern: @escaping @Sendable () -> Regex<Output>,
        action: @escaping @Sendable (HTTPRequest, Output, TemporaryFiles) async throws -> HTTPResponse
    ) {
        self.method = method
        self.base = base
        patterns = PatternPool(pattern)
        self.action = action
    }

    func answer(to subject: inout RouteSubject) -> RouteMatch? {
        guard let text = subject.text(below: base), let output = patterns.match(text) else { return nil }
        let action = action
        return .action { request, files in try await action(request, output, files) }
    }
}

/// A pool of compiled expressions for one pattern, one for each concurrent match.
private final class PatternPool<Output: Sendable>: Sendable {
    @safe private struct Expression: Sendable {
        /// Either in the pool or in use by the call that removed it from the pool, so never used by two
        /// threads.
        nonisolated(unsafe) let regex: Regex<Output>
    }

    private let make: @Sendable () -> Regex<Output>
    private let idle = Mutex<[Expression]>([])

    init(_ make: @escaping @Sendable () -> Regex<Output>) { self.make = make }

    func match(_ text: String) -> Output? {
        let expression = idle.withLock { $0.popLast() } ?? Expression(regex: make())
        defer { idle.withLock { $0.append(expression) } }
        // An expression with custom code can throw, which counts as no match.
        return unsafe try? expression.regex.wholeMatch(in: text)?.output
    }
}

struct ConditionRoute: ScannedRoute {
    let base: ResourcePath
    let condition: @Sendable (RequestHead) -> Bool
    let action: FullRouteAction

    var method: HTTPMethod? { nil }

    func answer(to subject: inout RouteSubject) -> RouteMatch? {
        guard base.contains(subject.folded), condition(RequestHead(subject.request)) else { return nil }
        return .action(action)
    }
}

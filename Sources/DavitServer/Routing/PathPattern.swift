internal import DavitHTTP

/// The path of a route with parameters, such as `/users/{id}`. A parameter is a complete segment: the simple
/// expansion of RFC 6570 §3.2.2, as in OpenAPI.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case text([UInt8])
        case parameter(String)
    }

    /// The path with the parameters as they were written.
    let path: ResourcePath
    let endsInSlash: Bool
    private let ignoresCase: Bool
    private let segments: [Segment]

    /// Returns nil for a path without parameters. Traps for a malformed or repeated parameter, and for a
    /// parameter in the syntax of other libraries, `:id`, which would never match.
    init?(_ path: ResourcePath, endsInSlash: Bool = false, ignoresCase: Bool = false) {
        var names: Set<String> = []
        var segments: [Segment] = []
        for segment in path.segments {
            guard let name = Self.parameter(segment, of: path) else {
                segments.append(.text(ignoresCase ? Array(segment).lowercasedText() : Array(segment)))
                continue
            }
            precondition(names.insert(name).inserted, "route \(path) has two parameters named \(name)")
            segments.append(.parameter(name))
        }
        if names.isEmpty { return nil }
        self.path = path
        self.endsInSlash = endsInSlash
        self.ignoresCase = ignoresCase
        self.segments = segments
    }

    /// Returns the name of the parameter, or nil for other segments.
    private static func parameter(_ segment: ArraySlice<UInt8>, of path: ResourcePath) -> String? {
        precondition(segment.first != UInt8(ascii: ":"), "route \(path): write {id} instead of :id")
        let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        guard segment.contains(where: { $0 == open || $0 == close }) else { return nil }
        let name = String(decoding: segment.dropFirst().dropLast(), as: UTF8.self)
        precondition(
            segment.first == open && segment.last == close && !name.isEmpty
                && name.utf8.allSatisfy { $0.isUnreserved && $0 != UInt8(ascii: ".") },
            """
            route \(path): a parameter must be a complete segment such as {id}, with a name of letters, digits, \
            -, _ and ~; for other patterns, use the argument 'matching'
            """)
        return name
    }

    /// Returns the values of the parameters; nil if the path does not match, or if a value is not valid
    /// UTF-8.
    func parameters(in key: RouteTable.Key) -> PathParameters? {
        guard key.endsInSlash == endsInSlash else { return nil }
        var parameters = PathParameters()
        var rest = key.path.bytes[...]
        for (index, segment) in segments.enumerated() {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let found = rest[..<end]
            guard (end == rest.endIndex) == (index == segments.count - 1), !found.isEmpty else { return nil }
            switch segment {
            case .text(let text):
                guard ignoresCase ? Array(found).lowercasedText() == text : found.elementsEqual(text) else {
                    return nil
                }
            case .parameter(let name):
                guard let value = String(validating: found, as: UTF8.self) else { return nil }
                parameters.append(name, value)
            }
            rest = rest[end...].dropFirst()
        }
        return parameters
    }
}

/// A route whose path has parameters.
struct ParameterRoute: ScannedRoute {
    let method: HTTPMethod?
    let pattern: PathPattern
    let action: FullRouteAction

    var path: ResourcePath? { pattern.path }
    var endsInSlash: Bool { pattern.endsInSlash }

    func answer(to subject: inout RouteSubject) -> RouteMatch? {
        guard let parameters = pattern.parameters(in: subject.key) else { return nil }
        let action = action
        return .action { request, files in
            request.parameters = parameters
            return try await action(request, files)
        }
    }
}

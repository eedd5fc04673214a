/// The values that a request has for the path parameters of its route.
///
/// ```swift
/// routes.get("/users/{id}") { request in .text("User \(request.parameters["id"] ?? "")") }
/// ```
public struct PathParameters: Sendable {
    private var values: [(name: String, value: String)] = []

    package init() {}

    /// The decoded value of a parameter, which is never empty; nil if the route has no parameter of this
    /// name.
    public subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    /// Whether the route has no parameters.
    public var isEmpty: Bool { values.isEmpty }

    package mutating func append(_ name: String, _ value: String) { values.append((name, value)) }
}

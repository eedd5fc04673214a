package import DavitHTTP

/// One of the conditions under which a server is ready.
public struct HealthCheck: Hashable, Sendable {
    /// The name of the check: short, in lower case, with hyphens.
    public var name: String
    /// Why the check fails; nil if it passes.
    public var problem: String?

    /// Creates the result of a check.
    public init(_ name: String, problem: String?) {
        self.name = name
        self.problem = problem
    }

    /// Whether the check passes.
    public var passes: Bool { problem == nil }
}

extension Sequence<HealthCheck> {
    /// Whether all checks pass.
    public var areAllPassing: Bool { allSatisfy(\.passes) }
}

extension HealthCheck {
    /// Checks whether certificates are valid.
    /// - Parameter validity: the period in which all of them are valid.
    package static func certificate(_ validity: ClosedRange<Timestamp>, now: Timestamp) -> HealthCheck {
        let problem =
            now < validity.lowerBound
            ? "a certificate is not valid yet" : now > validity.upperBound ? "a certificate has expired" : nil
        return HealthCheck("certificate", problem: problem)
    }
}

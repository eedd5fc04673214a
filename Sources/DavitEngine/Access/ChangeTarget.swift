internal import DavitHTTP
internal import DavitStore

/// A snapshot of the resources of a change: the target and, for methods such as COPY and MOVE, the destination.
///
/// A class rather than a struct, to avoid copying it at each step of a change.
final class ChangeTarget: Sendable {
    let context: RequestContext
    /// The resource that the method acts on; for DELETE and MOVE it can be a symbolic link.
    let target: Lookup
    /// The resource to which ``target`` leads, at another path; nil if it is not a symbolic link, or if its
    /// destination cannot be served.
    private let linked: Lookup?
    /// The destination, which can be a symbolic link; nil for methods without one.
    let destination: Lookup?
    /// Like ``linked``, for ``destination``.
    private let linkedDestination: Lookup?
    /// The canonical paths of the resources that `If` refers to with a Resource-Tag.
    let tagged: [ResourcePath]

    init(
        context: RequestContext, target: Lookup, linked: Lookup? = nil, destination: Lookup? = nil,
        linkedDestination: Lookup? = nil, tagged: [ResourcePath] = []
    ) {
        self.context = context
        self.target = target
        self.linked = linked
        self.destination = destination
        self.linkedDestination = linkedDestination
        self.tagged = tagged
    }

    /// The resource that clients see at the target: if ``target`` is a symbolic link, the resource to which it
    /// leads; otherwise ``target`` itself. Preconditions, `If` and a trailing slash apply to this resource.
    var resolvedInfo: ResourceInfo? { linked == nil ? target.info : linked?.info }
    /// The path of the resource that clients see at the target.
    var resolvedPath: ResourcePath { linked?.path ?? target.path }

    /// Whether both changes have the same target and destination.
    func isInPlace(of other: ChangeTarget) -> Bool {
        target.path == other.target.path && destination?.path == other.destination?.path
    }

    /// The paths on which the checks depend, other than the target and the destination.
    var additionalPaths: [ResourcePath] {
        var paths = tagged
        if let linked { paths.append(linked.path) }
        if let linkedDestination { paths.append(linkedDestination.path) }
        return paths
    }

    /// Whether this change and `other` depend on the same paths, including those that only the checks use.
    func hasSamePaths(as other: ChangeTarget) -> Bool {
        guard isInPlace(of: other) else { return false }
        // Usually there are none, and copying the empty lists takes longer than this.
        if !hasAdditionalPaths, !other.hasAdditionalPaths { return true }
        return additionalPaths == other.additionalPaths
    }

    private var hasAdditionalPaths: Bool { linked != nil || linkedDestination != nil || !tagged.isEmpty }

    /// The effects on the resources to which symbolic links lead. LOCK on a link locks the resource to which the
    /// link leads, so the locks on that resource also protect the link.
    var symlinkEffects: [WriteEffect] {
        var effects: [WriteEffect] = []
        if let linked { effects.append(.write(linked.path)) }
        if let linkedDestination { effects.append(.write(linkedDestination.path)) }
        return effects
    }
}

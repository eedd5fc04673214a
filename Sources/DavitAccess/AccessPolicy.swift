public import DavitHTTP

/// Decides what each principal may do in a share.
///
/// ``AccessRules`` is the policy that consists of rules. An application can implement its own.
public protocol AccessPolicy: Sendable {
    /// Returns what a principal may do. Called for each request, unless ``changes`` counts changes, so it must be fast and must
    /// not block; implementations cache their views.
    func view(of principal: Principal) -> any AccessView

    /// Counts the changes after which ``view(of:)`` can return other views. Nil if changes are not counted: views are then not
    /// kept.
    var changes: AccessChangeCounter? { get }

    /// Whether rules refer to this folder or to something below it. If such a folder is moved or removed, its rules must
    /// follow: they would otherwise refer to nothing, or to another resource that is created under its name later.
    func isPlace(_ path: ResourcePath) -> Bool

    /// Whether a folder to which ``isPlace(_:)`` applies cannot be moved or removed, because its rules cannot follow.
    func isFixed(_ path: ResourcePath) -> Bool

    /// Moves the rules of folders that are moved; nil if all folders with rules are fixed.
    var ruleMover: (any RuleMover)? { get }

    /// Returns what a principal may do with a resource in the trash and with everything in it, with the rules in the trash
    /// that concern it; nil if there are none, so that only the current rules of its original path apply.
    /// - Parameters:
    ///   - id: identifies the resource in the trash.
    ///   - path: its original path, which is also that in the returned view.
    func view(of principal: Principal, ofTrashed id: String, from path: ResourcePath) -> (any AccessView)?

    /// Returns the access control list of a resource (RFC 3744 §5.5), for clients with the right to manage it. Empty if the
    /// policy does not consist of rules.
    /// - Parameter path: a canonical path.
    func entries(at path: ResourcePath) -> [AccessControlEntry]
}

extension AccessPolicy {
    /// Returns nil: no view is used for more than one request.
    public var changes: AccessChangeCounter? { nil }

    /// Returns false: nothing prevents folders from being moved.
    public func isPlace(_ path: ResourcePath) -> Bool { false }

    /// Returns true: without a ``ruleMover``, rules cannot follow their folders.
    public func isFixed(_ path: ResourcePath) -> Bool { true }

    /// Returns nil.
    public var ruleMover: (any RuleMover)? { nil }

    /// Returns nil.
    public func view(
        of principal: Principal, ofTrashed id: String, from path: ResourcePath
    ) -> (any AccessView)? { nil }

    /// Returns an empty list.
    public func entries(at path: ResourcePath) -> [AccessControlEntry] { [] }
}

/// What one principal may do in a share. All paths are canonical, and need not exist.
public protocol AccessView: Sendable {
    /// Returns the rights to a resource.
    func rights(at path: ResourcePath) -> Rights
    /// Whether the principal has any right to something below a path. The collections on the way to it can then be
    /// traversed, even without rights to them.
    func leadsToRights(_ path: ResourcePath) -> Bool
    /// Returns the rights that the principal has to a resource and to everything below it.
    func rightsThroughout(_ path: ResourcePath) -> Rights
    /// Returns the rights to the members of a collection.
    func members(of path: ResourcePath) -> MemberRights
    /// Identifies the rights: different for a view with other rights, and the same after a restart. Sync tokens contain it,
    /// so that a client synchronizes from the beginning when its rights have changed.
    var fingerprint: UInt64 { get }
}

/// The answer to a request for a right.
public enum AccessDecision: Hashable, Sendable {
    case allow
    /// Respond as if the resource did not exist: 404, or 403 if the request would create it.
    case hide
    /// Respond with 403. The principal may know that the resource exists.
    case forbid
}

/// How much of a resource a principal may see.
public enum Visibility: Hashable, Sendable {
    /// The resource is hidden.
    case hidden
    /// A collection on the way to something that the principal has rights to, or to which the principal may add
    /// members without listing them. Only its existence is visible.
    case passage
    /// Everything except content is visible.
    case listed
}

extension AccessView {
    /// Decides whether the principal has a right to a resource.
    public func decide(_ right: Right, at path: ResourcePath) -> AccessDecision {
        let rights = rights(at: path)
        if rights.contains(right) { return .allow }
        return rights.contains(.list) ? .forbid : .hide
    }

    /// Returns how much of a resource the principal may see. The root is never hidden: clients open it first, and
    /// would report a wrong password or a wrong address.
    public func visibility(at path: ResourcePath) -> Visibility {
        let rights = rights(at: path)
        if rights.contains(.list) { return .listed }
        return !rights.isEmpty || path.isRoot || leadsToRights(path) ? .passage : .hidden
    }

    /// Returns 0: sync tokens remain valid when rights change, so a client may keep names that it may no longer list.
    public var fingerprint: UInt64 { 0 }

    /// Returns the rights to the members, determined one by one.
    public func members(of path: ResourcePath) -> MemberRights {
        MemberRights { name in
            guard let member = path.appending(name) else { return (.none, false) }
            return (rights(at: member), leadsToRights(member))
        }
    }
}

extension AccessPolicy {
    /// Decides whether a principal has a right to a resource.
    /// - Parameter path: a canonical path.
    public func decide(
        _ principal: Principal, _ right: Right, at path: ResourcePath
    ) -> AccessDecision { view(of: principal).decide(right, at: path) }
}

internal import DavitHTTP

/// The rights to the members of one collection. Determined once per collection, so that a listing does not look up
/// the path of each member.
public struct MemberRights: Sendable {
    private enum Source: Sendable {
        /// All members have the same rights.
        case uniform(Rights)
        /// Members in the tree have the rights of their node, all others the same rights.
        case nodes(RuleTree, collection: Int, others: Rights)
        case lookup(@Sendable (_ name: [UInt8]) -> (Rights, leadsToRights: Bool))
    }

    private let source: Source
    /// Rules out most members without a node.
    private let filter: RuledNames?
    /// The rights of members that the filter rules out.
    private let others: Rights

    init(uniform rights: Rights) {
        source = .uniform(rights)
        filter = nil
        others = rights
    }

    /// - Parameter filter: of the members that have a node.
    init(of collection: Int, in tree: RuleTree, filter: RuledNames?, others: Rights) {
        source = .nodes(tree, collection: collection, others: others)
        self.filter = filter
        self.others = others
    }

    /// - Parameter lookup: returns the rights to a member, and whether the principal has rights below it.
    public init(_ lookup: @escaping @Sendable (_ name: [UInt8]) -> (Rights, leadsToRights: Bool)) {
        source = .lookup(lookup)
        filter = nil
        others = .none
    }

    /// The rights that every member has; nil if members differ.
    public var uniformRights: Rights? {
        if case .uniform(let rights) = source { return rights }
        return nil
    }

    /// Returns the rights to a member.
    public func rights(to name: [UInt8]) -> Rights {
        if let filter, !filter.mayContain(name) { return others }
        switch source {
        case .uniform(let rights): return rights
        case .nodes(let tree, let collection, let others):
            return tree.member(name, of: collection).map { tree.nodes[$0].rights } ?? others
        case .lookup(let lookup): return lookup(name).0
        }
    }

    /// Returns how a listing shows a member: completely if the principal has the right to list it, and without metadata
    /// (``Visibility/passage``) if it is a collection for which or below which other rules grant rights. Members that only
    /// inherit rights, without the right to list, are hidden.
    public func visibility(of name: [UInt8], isCollection: Bool) -> Visibility {
        if let filter, !filter.mayContain(name) { return others.contains(.list) ? .listed : .hidden }
        switch source {
        case .uniform(let rights): return rights.contains(.list) ? .listed : .hidden
        case .nodes(let tree, let collection, let others):
            guard let node = tree.member(name, of: collection) else {
                return others.contains(.list) ? .listed : .hidden
            }
            return Self.visibility(tree.nodes[node].rights, tree.nodes[node].leadsToRights, isCollection)
        case .lookup(let lookup):
            let (rights, leadsToRights) = lookup(name)
            return Self.visibility(rights, leadsToRights, isCollection)
        }
    }

    private static func visibility(
        _ rights: Rights, _ leadsToRights: Bool, _ isCollection: Bool
    ) -> Visibility {
        if rights.contains(.list) { return .listed }
        return isCollection && (!rights.isEmpty || leadsToRights) ? .passage : .hidden
    }
}

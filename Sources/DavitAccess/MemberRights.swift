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

    init(uniform rights: Rights) { source = .uniform(rights) }

    init(of collection: Int, in tree: RuleTree, others: Rights) {
        source = .nodes(tree, collection: collection, others: others)
    }

    /// - Parameter lookup: returns the rights to a member, and whether the principal has rights below it.
    public init(_ lookup: @escaping @Sendable (_ name: [UInt8]) -> (Rights, leadsToRights: Bool)) {
        source = .lookup(lookup)
    }

    /// The rights that every member has; nil if members differ.
    public var uniformRights: Rights? {
        if case .uniform(let rights) = source { return rights }
        return nil
    }

    /// Returns the rights to a member.
    public func rights(to name: [UInt8]) -> Rights {
        switch source {
        case .uniform(let rights): rights
        case .nodes(let tree, let collection, let others):
            tree.member(name, of: collection).map { tree.nodes[$0].rights } ?? others
        case .lookup(let lookup): lookup(name).0
        }
    }

    /// Whether a listing includes a member: if the principal has the right to list it, or if it is a collection that has
    /// rules of its own or is on the way to one. Members that only inherit rights without that to list are left out.
    public func lists(_ name: [UInt8], isCollection: Bool) -> Bool {
        switch source {
        case .uniform(let rights): return rights.contains(.list)
        case .nodes(let tree, let collection, let others):
            guard let node = tree.member(name, of: collection) else { return others.contains(.list) }
            let (rights, leadsToRights) = (tree.nodes[node].rights, tree.nodes[node].leadsToRights)
            return rights.contains(.list) || (isCollection && (!rights.isEmpty || leadsToRights))
        case .lookup(let lookup):
            let (rights, leadsToRights) = lookup(name)
            return rights.contains(.list) || (isCollection && (!rights.isEmpty || leadsToRights))
        }
    }
}

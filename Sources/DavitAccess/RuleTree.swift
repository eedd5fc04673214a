internal import DavitHTTP

/// The rules that concern one principal, as a tree of the folders they refer to. Names that are canonically equivalent
/// are the same name.
final class RuleTree: AccessView {
    struct Node: Sendable {
        /// Members with a node of their own, by the keys of their names.
        var children: [SegmentKey: Int] = [:]
        /// The rights at the folder, inherited if no rule refers to it.
        var rights = Rights.none
        /// Whether there are rights to something below.
        var leadsToRights = false
        /// The rights at the folder and at every folder below it.
        var throughout = Rights.all
    }

    /// The rights that the rules of one folder grant, before precedence.
    private struct Granted {
        var user: Rights?
        var groups: Rights?
        var everyone: Rights?
        /// Whether the limit of the principal begins here.
        var isLimit = false

        var rights: Rights? { user ?? groups ?? everyone }
    }

    /// The root comes first; each folder comes before its members.
    let nodes: [Node]

    /// - Parameter rules: the rules that concern the principal.
    init(_ rules: [AccessRule], limit: AccessLimit?) {
        var nodes = [Node()]
        var granted = [Granted()]
        var parents = [0]
        func node(at path: ResourcePath) -> Int {
            let key = path.equivalenceKey
            var (index, offset) = (0, 0)
            while let segment = key.nextSegment(at: &offset) {
                if let child = nodes[index].children[segment] {
                    index = child
                    continue
                }
                nodes[index].children[segment.detached] = nodes.count
                parents.append(index)
                index = nodes.count
                nodes.append(Node())
                granted.append(Granted())
            }
            return index
        }
        for rule in rules {
            let index = node(at: rule.path)
            switch rule.subject {
            case .user: granted[index].user = rule.rights
            case .group: granted[index].groups = (granted[index].groups ?? []).union(rule.rights)
            case .everyone, .anonymous: granted[index].everyone = rule.rights
            }
        }
        if let limit { granted[node(at: limit.path)].isLimit = true }
        Self.complete(&nodes, granted, parents, limit)
        self.nodes = nodes
    }

    /// Fills in the rights of all nodes: inherited ones from the root down, those that depend on members from the leaves
    /// up.
    private static func complete(
        _ nodes: inout [Node], _ granted: [Granted], _ parents: [Int], _ limit: AccessLimit?
    ) {
        // The rights according to the rules alone, and those that the limit leaves.
        var ruled = [Rights](repeating: .none, count: nodes.count)
        var remaining = [Rights](repeating: limit == nil ? .all : .none, count: nodes.count)
        for index in nodes.indices {
            let parent = parents[index]
            ruled[index] = granted[index].rights ?? ruled[parent]
            if granted[index].isLimit, let limit {
                remaining[index] = limit.rights
            } else if index > 0 {
                remaining[index] = remaining[parent]
            }
            nodes[index].rights = ruled[index].intersection(remaining[index])
        }
        for index in nodes.indices.reversed() {
            nodes[index].throughout.formIntersection(nodes[index].rights)
            guard index > 0 else { return }
            let parent = parents[index]
            nodes[parent].throughout.formIntersection(nodes[index].throughout)
            if !nodes[index].rights.isEmpty || nodes[index].leadsToRights {
                nodes[parent].leadsToRights = true
            }
        }
    }

    // MARK: Queries

    /// Returns the deepest node on a path, and whether it is that of the path itself.
    private func nearestNode(to path: ResourcePath) -> (index: Int, isExact: Bool) {
        if nodes.count == 1 { return (0, path.isRoot) }
        let key = path.equivalenceKey
        var (index, offset) = (0, 0)
        while let segment = key.nextSegment(at: &offset) {
            guard let child = nodes[index].children[segment] else { return (index, false) }
            index = child
        }
        return (index, true)
    }

    /// Whether a rule refers to a folder or to something below it. Always true for the root.
    func hasNode(at path: ResourcePath) -> Bool { nearestNode(to: path).isExact }

    func rights(at path: ResourcePath) -> Rights { nodes[nearestNode(to: path).index].rights }

    func leadsToRights(_ path: ResourcePath) -> Bool {
        let nearest = nearestNode(to: path)
        // Below a folder without a node, everything has the same rights as the folder.
        return nearest.isExact && nodes[nearest.index].leadsToRights
    }

    func rightsThroughout(_ path: ResourcePath) -> Rights {
        let nearest = nearestNode(to: path)
        return nearest.isExact ? nodes[nearest.index].throughout : nodes[nearest.index].rights
    }

    func members(of path: ResourcePath) -> MemberRights {
        let nearest = nearestNode(to: path)
        let rights = nodes[nearest.index].rights
        guard nearest.isExact, !nodes[nearest.index].children.isEmpty else {
            return MemberRights(uniform: rights)
        }
        return MemberRights(of: nearest.index, in: self, others: rights)
    }

    /// Returns the node of a member of a collection; nil if it has none.
    func member(_ name: [UInt8], of collection: Int) -> Int? {
        if name.allSatisfy({ $0 < 0x80 }) { return nodes[collection].children[SegmentKey(name[...])] }
        return nodes[collection].children[SegmentKey(ResourcePath(unchecked: name).equivalenceKey.bytes[...])]
    }
}

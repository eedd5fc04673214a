internal import DavitHTTP

/// The rules that concern one principal, as a tree of the folders they refer to. Names that are canonically equivalent
/// are the same name.
final class RuleTree: AccessView {
    struct Node: Sendable {
        /// Members with a node of their own, by the keys of their names.
        var children = Children()
        /// The rights at the folder, inherited if no rule refers to it.
        var rights = Rights.none
        /// Whether there are rights to something below.
        var leadsToRights = false
        /// The rights at the folder and at every folder below it.
        var throughout = Rights.all
    }

    /// Nodes by the keys of their names.
    struct Children: Sendable {
        /// How many keys are compared one by one, which takes less time than hashing a key.
        private static let comparedCount = 4

        private var few: [(key: [UInt8], node: Int)] = []
        /// All keys, if there are more.
        private var many: [SegmentKey: Int] = [:]

        var isEmpty: Bool { few.isEmpty }

        /// Rules out most names without a node; nil if there are so few nodes that it would not help.
        var filter: RuledNames? {
            many.isEmpty ? nil : RuledNames(many.keys.map { Array($0.bytes) })
        }

        /// Returns the node whose key is a part of `bytes`.
        func node(_ bytes: [UInt8], _ range: Range<Int>) -> Int? {
            if !many.isEmpty { return many[SegmentKey(bytes[range])] }
            for index in few.indices where few[index].key.count == range.count {
                var offset = 0
                while offset < range.count, few[index].key[offset] == bytes[range.lowerBound + offset] {
                    offset += 1
                }
                if offset == range.count { return few[index].node }
            }
            return nil
        }

        /// - Parameter key: must be new.
        mutating func add(_ key: [UInt8], _ node: Int) {
            if few.count < Self.comparedCount {
                few.append((key, node))
                return
            }
            if many.isEmpty { for child in few { many[SegmentKey(child.key[...])] = child.node } }
            many[SegmentKey(key[...])] = node
        }
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
    /// The filters of the nodes with many members, by index.
    private let filters: [Int: RuledNames]
    let fingerprint: UInt64

    /// - Parameter rules: the rules that concern the principal.
    init(_ rules: [AccessRule], limit: AccessLimit?) {
        var nodes = [Node()]
        var granted = [Granted()]
        var parents = [0]
        var hashes = [StableHash()]
        func node(at path: ResourcePath) -> Int {
            let key = path.equivalenceKey
            var (index, offset, nameOffset) = (0, 0, 0)
            while let segment = key.nextSegment(at: &offset) {
                // Equivalence keys differ from process to process, so the name itself is hashed.
                let name = path.nextSegment(at: &nameOffset)
                let bytes = Array(segment.bytes)
                if let child = nodes[index].children.node(bytes, bytes.indices) {
                    index = child
                    continue
                }
                nodes[index].children.add(bytes, nodes.count)
                parents.append(index)
                hashes.append(hashes[index].appending(name?.bytes ?? []))
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
        filters = Dictionary(
            uniqueKeysWithValues: nodes.indices.compactMap { index in
                nodes[index].children.filter.map { (index, $0) }
            })
        // A sum, so that the order of rules is irrelevant. Nodes that only inherit their rights do not count.
        fingerprint = nodes.indices.reduce(0) { sum, index in
            if index > 0, nodes[index].rights == nodes[parents[index]].rights { return sum }
            return sum &+ hashes[index].appending([nodes[index].rights.rawValue]).mixed
        }
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
        let key = path.equivalenceKey.bytes
        var (index, start) = (0, 0)
        while start < key.count {
            var end = start
            while end < key.count, key[end] != UInt8(ascii: "/") { end += 1 }
            guard let child = nodes[index].children.node(key, start..<end) else { return (index, false) }
            (index, start) = (child, end + 1)
        }
        return (index, true)
    }

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
        return MemberRights(
            of: nearest.index, in: self, filter: filters[nearest.index], others: rights)
    }

    /// Returns the node of a member of a collection; nil if it has none.
    func member(_ name: [UInt8], of collection: Int) -> Int? {
        let key = name.allSatisfy { $0 < 0x80 } ? name : ResourcePath(unchecked: name).equivalenceKey.bytes
        return nodes[collection].children.node(key, key.indices)
    }
}

/// FNV-1a, because the hash values of the standard library differ from run to run.
private struct StableHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds a segment of a path, and a separator.
    func appending(_ bytes: some Collection<UInt8>) -> StableHash {
        var hash = self
        for byte in bytes { hash.value = (hash.value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash.value = (hash.value ^ UInt64(UInt8(ascii: "/"))) &* 0x100_0000_01B3
        return hash
    }

    /// The value with all bits depending on each other, as sums require (the finalizer of SplitMix64).
    var mixed: UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

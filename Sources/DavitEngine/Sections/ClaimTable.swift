internal import DavitHTTP
internal import DavitStore

/// The claims that are held or wait: the last few in a list, all others in a tree of paths.
///
/// A list of few is read through in less time than it takes to build their branches of a tree and to take them
/// down again, and few is what there is while changes are short.
///
/// Every set of claims has a ticket, in the order of arrival. Its conflicts are all claims with a smaller
/// ticket that do not go with one of its own. One without conflicts is granted. Any other is parked on the
/// latest of its conflicts, and looks for the next when that one leaves; so in a queue for one path, one that
/// leaves looks at one.
package struct ClaimTable {
    /// A path that is claimed, or that has claimed paths below it.
    private final class Node {
        var children: [SegmentKey: Node] = [:]
        var here = ClaimTickets()
        var below = ClaimTickets()
    }

    /// So many sets are in the list at most.
    private static let listLimit = 8

    private struct Entry {
        let claims: [Claim]
        var isGranted: Bool
        /// Tickets to look at again when this one leaves.
        var parked: [UInt64] = []
    }

    private let root = Node()
    private var entries: [UInt64: Entry] = [:]
    /// The sets that are not in the tree, in the order of their tickets; all others came earlier.
    private var list: [(ticket: UInt64, claims: [Claim])] = []
    private var lastTicket: UInt64 = 0

    package init() {}

    /// How many sets of claims are held or wait.
    package var count: Int { entries.count }

    /// True if nothing is left of those that were here.
    package var isEmpty: Bool {
        entries.isEmpty && root.children.isEmpty && root.here.isEmpty && root.below.isEmpty
    }

    /// - Returns: a ticket that no set ever had before, and whether the claims are held at once.
    package mutating func enter(_ claims: [Claim]) -> (ticket: UInt64, isGranted: Bool) {
        let conflict = latestConflict(of: claims, before: lastTicket + 1)
        let ticket = add(claims, isGranted: conflict == 0)
        if conflict != 0 { entries[conflict]?.parked.append(ticket) }
        return (ticket, conflict == 0)
    }

    /// - Returns: nil if the claims cannot be held at once, and nothing is changed.
    package mutating func enterIfFree(_ claims: [Claim]) -> UInt64? {
        guard latestConflict(of: claims, before: lastTicket + 1) == 0 else { return nil }
        return add(claims, isGranted: true)
    }

    private mutating func add(_ claims: [Claim], isGranted: Bool) -> UInt64 {
        lastTicket += 1
        entries[lastTicket] = Entry(claims: claims, isGranted: isGranted)
        list.append((lastTicket, claims))
        if list.count > Self.listLimit { emptyList() }
        return lastTicket
    }

    private mutating func emptyList() {
        for (ticket, claims) in list {
            for claim in claims { add(claim, ticket) }
        }
        list.removeAll(keepingCapacity: true)
    }

    /// Whether the claims of a ticket are held; false if they wait, nil if they have left.
    package func isGranted(_ ticket: UInt64) -> Bool? { entries[ticket]?.isGranted }

    /// Takes out a set of claims, whether it is held or waits. An unknown ticket is none.
    /// - Returns: the tickets that are granted thereby, in their order.
    package mutating func leave(_ ticket: UInt64) -> [UInt64] {
        guard let entry = entries.removeValue(forKey: ticket) else { return [] }
        if let index = list.firstIndex(where: { $0.ticket == ticket }) {
            list.remove(at: index)
        } else {
            for claim in entry.claims { remove(claim, ticket) }
        }
        if entry.parked.isEmpty { return [] }
        var granted: [UInt64] = []
        for parked in entry.parked {
            // One that has left since is not taken out of the list it was parked in.
            guard let waiting = entries[parked] else { continue }
            let conflict = latestConflict(of: waiting.claims, before: parked)
            if conflict == 0 {
                entries[parked]?.isGranted = true
                granted.append(parked)
            } else {
                entries[conflict]?.parked.append(parked)
            }
        }
        return granted.sorted()
    }

    /// The latest ticket before `ticket` that has a claim which does not go with one of `claims`; 0 if none has.
    private func latestConflict(of claims: [Claim], before ticket: UInt64) -> UInt64 {
        for other in list.reversed() where other.ticket < ticket {
            for claim in other.claims where !claims.allSatisfy({ $0.isCompatible(with: claim) }) {
                return other.ticket
            }
        }
        if root.children.isEmpty, root.here.isEmpty { return 0 }
        // Whatever is in the tree came earlier.
        return claims.reduce(0) { max($0, latestConflict(of: $1, before: ticket)) }
    }

    // MARK: The tree

    /// The latest ticket before `ticket` that does not go with `claim`; 0 if there is none.
    private func latestConflict(of claim: Claim, before ticket: UInt64) -> UInt64 {
        var node = root
        var latest = node.here.latestConflict(before: ticket, with: claim.mode)
        var offset = 0
        while let segment = claim.key.nextSegment(at: &offset) {
            guard let child = node.children[segment] else { return latest }
            node = child
            latest = max(latest, node.here.latestConflict(before: ticket, with: claim.mode))
        }
        return max(latest, node.below.latestConflict(before: ticket, with: claim.mode))
    }

    /// - Parameter ticket: not smaller than any in the tree.
    private func add(_ claim: Claim, _ ticket: UInt64) {
        var node = root
        var offset = 0
        while let segment = claim.key.nextSegment(at: &offset) {
            node.below.add(ticket, claim.mode)
            if let child = node.children[segment] {
                node = child
            } else {
                let child = Node()
                node.children[segment.detached] = child
                node = child
            }
        }
        node.here.add(ticket, claim.mode)
    }

    /// Takes the nodes along that nothing else needs.
    private func remove(_ claim: Claim, _ ticket: UInt64) {
        var node = root
        var offset = 0
        var steps: [(parent: Node, segment: SegmentKey)] = []
        while let segment = claim.key.nextSegment(at: &offset) {
            node.below.remove(ticket, claim.mode)
            steps.append((node, segment))
            guard let child = node.children[segment] else { return }
            node = child
        }
        node.here.remove(ticket, claim.mode)
        for step in steps.reversed() {
            guard node.here.isEmpty, node.below.isEmpty else { return }
            step.parent.children[step.segment] = nil
            node = step.parent
        }
    }
}

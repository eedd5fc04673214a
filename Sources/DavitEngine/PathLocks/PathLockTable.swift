internal import DavitHTTP
internal import DavitStore

/// The requests for path locks that are held or waiting: the most recent ones in a list, all others in a tree
/// of paths.
///
/// Searching a short list is faster than adding and removing tree nodes, and usually there are only a few
/// requests at a time.
///
/// Each set of requests gets a ticket, in the order of arrival. A set conflicts with every set that has a
/// smaller ticket and contains an incompatible request. A set without conflicts is granted immediately. Any
/// other set waits for the latest set that it conflicts with, and is checked again when that set leaves. In a
/// queue of exclusive requests for one path, each set that leaves therefore causes only one check.
package struct PathLockTable {
    /// A path with requests, or with requests below it.
    private final class Node {
        var children: [SegmentKey: Node] = [:]
        var here = PathLockTickets()
        var below = PathLockTickets()
    }

    /// Maximum number of sets in the list.
    private static let listLimit = 8

    private struct Entry {
        let ticket: UInt64
        let requests: [PathLockRequest]
        var isGranted: Bool
        /// Tickets of the sets to check again when this set leaves.
        var parked: [UInt64] = []
    }

    private let root = Node()
    /// The sets whose requests are in the tree, by their tickets.
    private var inTree: [UInt64: Entry] = [:]
    /// The other sets, in the order of their tickets, which are larger than those of the sets in the tree.
    private var list: [Entry] = []
    private var lastTicket: UInt64 = 0

    package init() { list.reserveCapacity(Self.listLimit + 1) }

    /// Number of sets that are held or waiting.
    package var count: Int { list.count + inTree.count }

    /// Whether the table is empty, including the nodes of its tree.
    package var isEmpty: Bool {
        count == 0 && root.children.isEmpty && root.here.isEmpty && root.below.isEmpty
    }

    /// - Returns: A ticket that has never been used before, and whether the set is granted immediately.
    package mutating func enter(_ requests: [PathLockRequest]) -> (ticket: UInt64, isGranted: Bool) {
        let conflict = latestConflict(of: requests, before: lastTicket + 1)
        let ticket = add(requests, isGranted: conflict == 0)
        if conflict != 0 { park(ticket, until: conflict) }
        return (ticket, conflict == 0)
    }

    /// - Returns: nil if the set cannot be granted immediately; the table is then unchanged.
    package mutating func enterIfFree(_ requests: [PathLockRequest]) -> UInt64? {
        guard latestConflict(of: requests, before: lastTicket + 1) == 0 else { return nil }
        return add(requests, isGranted: true)
    }

    private mutating func add(_ requests: [PathLockRequest], isGranted: Bool) -> UInt64 {
        lastTicket += 1
        list.append(Entry(ticket: lastTicket, requests: requests, isGranted: isGranted))
        if list.count > Self.listLimit { emptyList() }
        return lastTicket
    }

    private mutating func emptyList() {
        for entry in list {
            for request in entry.requests { add(request, entry.ticket) }
            inTree[entry.ticket] = entry
        }
        list.removeAll(keepingCapacity: true)
    }

    private func indexInList(_ ticket: UInt64) -> Int? { list.firstIndex { $0.ticket == ticket } }

    private func entry(_ ticket: UInt64) -> Entry? { indexInList(ticket).map { list[$0] } ?? inTree[ticket] }

    /// Records that the set with `ticket` is to be checked again when the set with the ticket `conflict` leaves.
    private mutating func park(_ ticket: UInt64, until conflict: UInt64) {
        if let index = indexInList(conflict) {
            list[index].parked.append(ticket)
        } else {
            inTree[conflict]?.parked.append(ticket)
        }
    }

    private mutating func grant(_ ticket: UInt64) {
        if let index = indexInList(ticket) {
            list[index].isGranted = true
        } else {
            inTree[ticket]?.isGranted = true
        }
    }

    /// Whether the set with a ticket is granted: false if it is waiting, nil if it has left.
    package func isGranted(_ ticket: UInt64) -> Bool? { entry(ticket)?.isGranted }

    /// Removes a set that is held or waiting. Ignores unknown tickets.
    /// - Returns: The tickets that are granted as a result, in ascending order.
    package mutating func leave(_ ticket: UInt64) -> [UInt64] {
        let parked: [UInt64]
        if let index = indexInList(ticket) {
            parked = list.remove(at: index).parked
        } else if let entry = inTree.removeValue(forKey: ticket) {
            for request in entry.requests { remove(request, ticket) }
            parked = entry.parked
        } else {
            return []
        }
        if parked.isEmpty { return [] }
        var granted: [UInt64] = []
        for waiter in parked {
            // A set that left while it was waiting is still listed in `parked` of the set it waited for.
            guard let waiting = entry(waiter) else { continue }
            let conflict = latestConflict(of: waiting.requests, before: waiter)
            if conflict == 0 {
                grant(waiter)
                granted.append(waiter)
            } else {
                park(waiter, until: conflict)
            }
        }
        return granted.sorted()
    }

    /// Returns the latest ticket before `ticket` that has a request incompatible with any of `requests`; 0 if
    /// there is none.
    private func latestConflict(of requests: [PathLockRequest], before ticket: UInt64) -> UInt64 {
        for other in list.reversed() where other.ticket < ticket {
            for request in other.requests where !requests.allSatisfy({ $0.isCompatible(with: request) }) {
                return other.ticket
            }
        }
        if root.children.isEmpty, root.here.isEmpty { return 0 }
        // All tickets in the tree are smaller than those in the list.
        return requests.reduce(0) { max($0, latestConflict(of: $1, before: ticket)) }
    }

    // MARK: Tree

    /// Returns the latest ticket before `ticket` that is incompatible with `request`; 0 if there is none.
    private func latestConflict(of request: PathLockRequest, before ticket: UInt64) -> UInt64 {
        var node = root
        var latest = node.here.latestConflict(before: ticket, with: request.mode)
        var offset = 0
        while let segment = request.key.nextSegment(at: &offset) {
            guard let child = node.children[segment] else { return latest }
            node = child
            latest = max(latest, node.here.latestConflict(before: ticket, with: request.mode))
        }
        return max(latest, node.below.latestConflict(before: ticket, with: request.mode))
    }

    /// - Parameter ticket: Not smaller than any ticket in the tree.
    private func add(_ request: PathLockRequest, _ ticket: UInt64) {
        var node = root
        var offset = 0
        while let segment = request.key.nextSegment(at: &offset) {
            node.below.add(ticket, request.mode)
            if let child = node.children[segment] {
                node = child
            } else {
                let child = Node()
                node.children[segment.detached] = child
                node = child
            }
        }
        node.here.add(ticket, request.mode)
    }

    /// Removes the request, and the nodes that are no longer needed.
    private func remove(_ request: PathLockRequest, _ ticket: UInt64) {
        var node = root
        var offset = 0
        var steps: [(parent: Node, segment: SegmentKey)] = []
        while let segment = request.key.nextSegment(at: &offset) {
            node.below.remove(ticket, request.mode)
            steps.append((node, segment))
            guard let child = node.children[segment] else { return }
            node = child
        }
        node.here.remove(ticket, request.mode)
        for step in steps.reversed() {
            guard node.here.isEmpty, node.below.isEmpty else { return }
            step.parent.children[step.segment] = nil
            node = step.parent
        }
    }
}

/// Finds the members of one page among all of a folder while that is read, and keeps no others: memory does not grow with
/// the folder.
///
/// Belongs to one task, which lends it to one job at a time and waits for that: so the unchecked conformance is true.
package final class FolderSelection: @unchecked Sendable {
    /// Where a page begins, or ends.
    package enum Edge: Hashable, Sendable {
        case start
        case after(ListingEntry)
        case before(ListingEntry)
    }

    private let order: FolderOrder
    private let edge: Edge
    private let limit: Int
    private let filter: NameFilter?
    private var kept: [ListingEntry] = []
    /// The last that can be on the page, once there are enough.
    private var last: ListingEntry?
    /// Members that the filter lets through.
    package private(set) var count = 0
    /// Of these, those in front of the edge.
    private var countBefore = 0

    /// - Parameter limit: members on a page, at least 1.
    package init(_ order: FolderOrder, from edge: Edge, limit: Int, filter: NameFilter? = nil) {
        self.order = order
        self.edge = edge
        self.limit = limit
        self.filter = filter
    }

    /// O(log limit) on average, and nothing is allocated for a member that is on another page.
    package func take(_ entry: ListingEntry) {
        if let filter, !filter.matches(entry.name) { return }
        count += 1
        switch edge {
        case .start: break
        case .after(let place):
            if !order.precedes(place, entry) {
                countBefore += 1
                return
            }
        case .before(let place):
            if !order.precedes(entry, place) { return }
            countBefore += 1
        }
        if let last, !isNearer(entry, last) { return }
        kept.append(entry)
        if kept.count >= 2 * limit { prune() }
    }

    /// Whether `a` is closer to the edge than `b`.
    private func isNearer(_ a: ListingEntry, _ b: ListingEntry) -> Bool {
        if case .before = edge { return order.precedes(b, a) }
        return order.precedes(a, b)
    }

    private func prune() {
        kept.sort(by: isNearer)
        if kept.count > limit { kept.removeLast(kept.count - limit) }
        if kept.count == limit { last = kept.last }
    }

    /// The page, when all members have been taken.
    package func finish() -> Page {
        prune()
        var first = countBefore
        if case .before = edge {
            kept.reverse()
            first -= kept.count
        }
        return Page(entries: kept, first: first, count: count)
    }

    /// Members that are shown together.
    package struct Page: Sendable {
        package let entries: [ListingEntry]
        /// How many there are in front of them.
        package let first: Int
        /// How many there are in all.
        package let count: Int

        package var isLast: Bool { first + entries.count >= count }
    }
}

/// Finds names that have a text in them; case does not count.
package struct NameFilter: Sendable {
    private let text: String
    private let bytes: [UInt8]
    private let isASCII: Bool

    /// - Returns: nil for a text that every name has.
    package init?(_ text: String) {
        if text.isEmpty { return nil }
        self.text = text.lowercased()
        bytes = Array(self.text.utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
    }

    package func matches(_ name: [UInt8]) -> Bool {
        if isASCII { return matchesBytes(name) }
        // Composed or not, it is the same text.
        return String(decoding: name, as: UTF8.self).lowercased().contains(text)
    }

    private func matchesBytes(_ name: [UInt8]) -> Bool {
        var start = 0
        while start + bytes.count <= name.count {
            var index = 0
            while index < bytes.count, Self.lowercased(name[start + index]) == bytes[index] { index += 1 }
            if index == bytes.count { return true }
            start += 1
        }
        return false
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte + 32 : byte }
}

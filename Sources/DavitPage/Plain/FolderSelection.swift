internal import DavitHTTP
package import DavitListing

/// Selects the members of one page while the folder is read. Memory use does not depend on the size of the
/// folder.
///
/// It belongs to one task, which passes it to one job at a time and waits for that job.
package final class FolderSelection: Sendable {
    /// The position at which a page begins or ends.
    package enum Edge: Hashable, Sendable {
        case start
        case after(ListingEntry)
        case before(ListingEntry)
    }

    private let order: FolderOrder
    private let edge: Edge
    private let limit: Int
    private let filter: NameFilter?
    private let state = Exclusive(State())

    private struct State {
        var kept: [ListingEntry] = []
        /// The last entry of the page after the latest pruning of `kept`; entries beyond it are dropped. Nil
        /// until there are enough entries to fill the page.
        var last: ListingEntry?
        /// The number of members that match the filter.
        var count = 0
        /// The number of matching members before the edge.
        var countBefore = 0
    }

    /// - Parameter limit: the maximum number of members on the page, at least 1.
    package init(_ order: FolderOrder, from edge: Edge, limit: Int, filter: NameFilter? = nil) {
        self.order = order
        self.edge = edge
        self.limit = limit
        self.filter = filter
    }

    /// Adds a member. O(log limit) on average; members that cannot be on the page are dropped immediately.
    package func take(_ entry: ListingEntry) {
        if let filter, !filter.matches(entry.name) { return }
        state.withValue { state in
            state.count += 1
            switch edge {
            case .start: break
            case .after(let place):
                if !order.precedes(place, entry) {
                    state.countBefore += 1
                    return
                }
            case .before(let place):
                if !order.precedes(entry, place) { return }
                state.countBefore += 1
            }
            if let last = state.last, !isNearer(entry, last) { return }
            state.kept.append(entry)
            if state.kept.count >= 2 * limit { prune(&state) }
        }
    }

    /// Whether `a` is closer to the edge than `b`.
    private func isNearer(_ a: ListingEntry, _ b: ListingEntry) -> Bool {
        if case .before = edge { return order.precedes(b, a) }
        return order.precedes(a, b)
    }

    private func prune(_ state: inout State) {
        state.kept.sort(by: isNearer)
        if state.kept.count > limit { state.kept.removeLast(state.kept.count - limit) }
        if state.kept.count == limit { state.last = state.kept.last }
    }

    /// Returns the page, which is no longer kept here. Must be called once, after all members have been added.
    package func finish() -> Page {
        state.withValue { state in
            prune(&state)
            var first = state.countBefore
            if case .before = edge {
                state.kept.reverse()
                first -= state.kept.count
            }
            defer { state.kept = [] }
            return Page(entries: state.kept, first: first, count: state.count)
        }
    }

    /// The members of one page.
    package struct Page: Sendable {
        package let entries: [ListingEntry]
        /// The number of members before the page that match the filter.
        package let first: Int
        /// The total number of members that match the filter.
        package let count: Int

        package var isLast: Bool { first + entries.count >= count }
    }
}

/// Matches names that contain a text, ignoring case.
package struct NameFilter: Sendable {
    private let text: String
    private let bytes: [UInt8]
    private let isASCII: Bool

    /// - Returns: nil for an empty text, which matches every name.
    package init?(_ text: String) {
        if text.isEmpty { return nil }
        self.text = text.lowercased()
        bytes = Array(self.text.utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
    }

    package func matches(_ name: [UInt8]) -> Bool {
        if isASCII { return matchesBytes(name) }
        // String comparison treats composed and decomposed characters as equal.
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

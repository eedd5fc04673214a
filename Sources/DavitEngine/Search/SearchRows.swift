internal import DavitHTTP
internal import DavitWebDAV

/// The first results of a query with an order: a binary heap, limited in number and in bytes.
///
/// While results are inserted, the last one in the order is at the top, and it is dropped if a limit is
/// exceeded. The heap is then reversed in short steps, and returns the results beginning with the first one.
struct SearchRows {
    /// A result that has not been written yet.
    struct Row {
        /// The path of the traversal, not the canonical path: links are followed again when the result is
        /// written.
        let path: ResourcePath
        let href: [UInt8]
        let name: [UInt8]
        /// The sort keys, in the order of the query; nil for properties that are undefined or contain elements.
        let keys: [SearchValue?]
        /// Position among the results in the order of the traversal; the tie-breaker for equal keys.
        let number: Int

        /// Approximate size in memory.
        fileprivate var byteCount: Int {
            keys.reduce(256 + path.bytes.count + href.count + name.count) { count, key in
                if case .text(let text) = key { return count + 32 + text.utf8.count }
                return count + 32
            }
        }
    }

    /// Number of heap nodes moved in one step of the reversal.
    private static let nodesPerStep = 16

    private let order: [SearchOrder]
    private let limit: Int
    private let limitBytes: Int
    private var rows: [Row] = []
    /// The approximate size of the stored results in memory.
    private(set) var byteCount = 0
    private var isReversed = false
    /// Number of nodes not yet moved by the reversal; nil while results are inserted.
    private var unmoved: Int?

    /// - Parameters:
    ///   - limit: Maximum number of results; at least 1.
    ///   - limitBytes: Maximum bytes of the stored results. One result is always stored, whatever its size.
    init(_ order: [SearchOrder], limit: Int, limitBytes: Int) {
        self.order = order
        self.limit = limit
        self.limitBytes = limitBytes
    }

    /// - Returns: false if a result was dropped.
    mutating func insert(_ row: Row) -> Bool {
        rows.append(row)
        byteCount += row.byteCount
        siftUp(rows.count - 1)
        var isComplete = true
        while rows.count > limit || (byteCount > limitBytes && rows.count > 1) {
            _ = removeTop()
            isComplete = false
        }
        return isComplete
    }

    /// Performs one step of the preparation for ``next()``.
    /// - Returns: Whether the preparation is complete.
    mutating func prepare() -> Bool {
        isReversed = true
        var next = unmoved ?? rows.count / 2
        let end = max(0, next - Self.nodesPerStep)
        while next > end {
            next -= 1
            siftDown(next)
        }
        unmoved = next
        return next == 0
    }

    /// Removes and returns the next result in the order; nil at the end. Call it only after ``prepare()`` has
    /// returned true.
    mutating func next() -> Row? { removeTop() }

    private mutating func removeTop() -> Row? {
        guard let top = rows.first, let last = rows.popLast() else { return nil }
        byteCount -= top.byteCount
        if !rows.isEmpty {
            rows[0] = last
            siftDown(0)
        }
        return top
    }

    private mutating func siftUp(_ index: Int) {
        var index = index
        while index > 0 {
            let parent = (index - 1) / 2
            guard isAbove(rows[index], rows[parent]) else { return }
            rows.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ index: Int) {
        var index = index
        while true {
            var top = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < rows.count && isAbove(rows[child], rows[top]) {
                top = child
            }
            if top == index { return }
            rows.swapAt(index, top)
            index = top
        }
    }

    private func isAbove(_ a: Row, _ b: Row) -> Bool { isReversed ? isBefore(a, b) : isBefore(b, a) }

    /// A missing value sorts before all other values (RFC 5323 §5.6).
    private func isBefore(_ a: Row, _ b: Row) -> Bool {
        for (index, order) in order.enumerated() {
            let comparison =
                switch (a.keys[index], b.keys[index]) {
                case (nil, nil): 0
                case (nil, _?): -1
                case (_?, nil): 1
                case (let a?, let b?): a.compared(to: b) ?? 0
                }
            if comparison != 0 { return (comparison < 0) != order.isDescending }
        }
        return a.number < b.number
    }
}

internal import DavitHTTP
internal import DavitWebDAV

/// The first results of a query with an order: a binary heap, bounded in number and in bytes.
///
/// While results are inserted, the last one in the order is at the top and is dropped over a limit. Then the heap is
/// reversed in short steps, and gives the results from the first one on.
struct SearchRows {
    /// A result that waits for its place.
    struct Row {
        /// As it was walked to: links are followed again.
        let path: ResourcePath
        let href: [UInt8]
        let name: [UInt8]
        /// Nil where there is no value.
        let keys: [SearchValue?]
        /// Which one it was: what is equal stays in the order of the walk.
        let number: Int

        /// About what it takes in memory.
        fileprivate var byteCount: Int {
            keys.reduce(256 + path.bytes.count + href.count + name.count) { count, key in
                if case .text(let text) = key { return count + 32 + text.utf8.count }
                return count + 32
            }
        }
    }

    /// Bytes of the results that wait; 10,000 with paths of usual length are 5 MiB.
    private static let byteLimit = 32 << 20
    /// Nodes of the heap that one step of reversing moves.
    private static let nodesPerStep = 16

    private let order: [SearchOrder]
    private let limit: Int
    private var rows: [Row] = []
    private var byteCount = 0
    private var isReversed = false
    /// Nodes that have not been moved since the order was reversed; nil while results are inserted.
    private var unmoved: Int?

    /// - Parameter limit: of the number of results; at least 1.
    init(_ order: [SearchOrder], limit: Int) {
        self.order = order
        self.limit = limit
    }

    /// - Returns: false if a result had to be dropped.
    mutating func insert(_ row: Row) -> Bool {
        rows.append(row)
        byteCount += row.byteCount
        siftUp(rows.count - 1)
        var isComplete = true
        while rows.count > limit || (byteCount > Self.byteLimit && rows.count > 1) {
            _ = removeTop()
            isComplete = false
        }
        return isComplete
    }

    /// Does a part of what has to be done before the first result can be taken.
    /// - Returns: true if nothing is left to do.
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

    /// Takes the next result in the order; nil at the end. After ``prepare()``.
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

    /// What has no value is less than what has one (RFC 5323 §5.6).
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

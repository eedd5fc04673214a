internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Decides which of the resources that a walk comes to are results, counts them, and puts them in order. Belongs to one
/// ``PropFindStream``.
///
/// Without an order nothing is kept. With one, at most twice as many results as are wanted, each with its path and the
/// beginnings of what it is ordered by.
final class SearchRun {
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
    }

    /// Characters of a text by which results are ordered.
    private static let keyLimit = 256

    private let plan: SearchPlan
    private let resources: any ResourceStore
    /// Of `plan.places`, which one is walked.
    @safe @exclusivity(unchecked) var place = 0
    @safe @exclusivity(unchecked) private var count = 0
    @safe @exclusivity(unchecked) private var rows: [Row] = []
    private var isSorted = false
    /// There are more results than are told.
    @safe @exclusivity(unchecked) private(set) var isTruncated = false

    init(_ plan: SearchPlan, resources: any ResourceStore) {
        self.plan = plan
        self.resources = resources
    }

    /// Nothing that the walk could still come to would be told.
    var isOver: Bool { isTruncated && plan.order.isEmpty }

    /// Whether a resource is to be told at once.
    /// - Parameters:
    ///   - path: canonical, of what it is.
    ///   - walked: how the walk has come there; another one for a link.
    ///   - href: made only if it is wanted.
    func admits(
        _ member: Member, at path: ResourcePath, walked: ResourcePath, _ properties: [StoredProperty],
        href: () -> [UInt8]
    ) throws(WebDAVError) -> Bool {
        // A resource in several scopes is one result.
        for earlier in plan.places[..<place] where earlier.reaches(walked) { return false }
        let subject = SearchSubject(member: member, path: path, properties: properties, resources: resources)
        if let condition = plan.condition, try condition.truth(of: subject) != .yes { return false }
        count += 1
        if plan.order.isEmpty {
            isTruncated = count > plan.limit
            return !isTruncated
        }
        if plan.limit == 0 {
            isTruncated = true
            return false
        }
        rows.append(
            Row(path: walked, href: href(), name: member.name, keys: try keys(of: subject), number: count))
        if rows.count >= 2 * plan.limit { keepFirst() }
        return false
    }

    private func keys(of subject: SearchSubject) throws(WebDAVError) -> [SearchValue?] {
        var keys: [SearchValue?] = []
        for (order, operand) in zip(plan.order, plan.operandsOfOrder) {
            guard case .value(let value, _) = try subject.read(operand) else {
                keys.append(nil)
                continue
            }
            let key = order.isCaseless ? value.lowercased : value
            if case .text(let text) = key {
                keys.append(.text(String(text.prefix(Self.keyLimit))))
            } else {
                keys.append(key)
            }
        }
        return keys
    }

    private func keepFirst() {
        rows.sort { isBefore($0, $1) }
        guard rows.count > plan.limit else { return }
        rows.removeLast(rows.count - plan.limit)
        isTruncated = true
    }

    /// What has no value is less than what has one (RFC 5323 §5.6).
    private func isBefore(_ a: Row, _ b: Row) -> Bool {
        for (index, order) in plan.order.enumerated() {
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

    /// The next result in order, once the walk has ended; nil at the end, and without an order.
    func nextRow() -> Row? {
        if !isSorted {
            isSorted = true
            keepFirst()
            rows.reverse()
        }
        return rows.popLast()
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Decides which resources of a traversal are results, and counts and sorts them. Belongs to one
/// ``SearchWriter``.
///
/// Without an order, no results are stored. With an order, at most ``SearchPlan/limit`` results are stored,
/// each with its path and truncated sort keys.
final class SearchRun {
    /// Whether a resource is written to the response immediately; sorted results are written later.
    enum Admission { case yes, no, paused }

    /// A step of writing the sorted results.
    enum Ordered {
        case row(SearchRows.Row)
        /// The next result is not known yet.
        case pending
        case end
    }

    private let plan: SearchPlan
    private let evaluator: SearchEvaluator
    let meter: SearchMeter
    /// Index in `plan.places` of the scope being traversed.
    @safe @exclusivity(unchecked) var position = 0
    @safe @exclusivity(unchecked) private var count = 0
    @safe @exclusivity(unchecked) private var rows: SearchRows
    @safe @exclusivity(unchecked) private var isPrepared = false
    /// Whether a limit has been exceeded, so that the response may not contain all results.
    @safe @exclusivity(unchecked) private(set) var isTruncated = false
    /// Whether the step limit is exceeded, so that no further resources are evaluated.
    @safe @exclusivity(unchecked) private(set) var isExhausted = false

    init(_ plan: SearchPlan, meter: SearchMeter, share: Share) {
        self.plan = plan
        self.meter = meter
        evaluator = SearchEvaluator(plan.program, share.resources, meter: meter)
        rows = SearchRows(
            plan.order, limit: max(1, plan.limit), limitBytes: share.configuration.orderedSearchBytes)
    }

    /// The approximate size in memory of the results that are stored because they have to be sorted.
    var storedBytes: Int { rows.byteCount }

    /// Whether the response is complete, so that no further resource needs to be evaluated.
    var isOver: Bool { isTruncated && plan.order.isEmpty }

    /// Evaluates the condition for a resource.
    ///
    /// - Parameters:
    ///   - path: Canonical path of the resource.
    ///   - walked: Called only if the path of the traversal is needed, which differs from `path` for a symbolic link.
    ///   - href: Called only if the href is needed.
    /// - Returns: `paused` if the piece has ended; the next call must then be for the same resource.
    func admits(
        _ member: Member, at path: ResourcePath, _ properties: [StoredProperty],
        walked: () -> ResourcePath, href: () -> [UInt8]
    ) throws(WebDAVError) -> Admission {
        do throws(SearchStop) {
            if !evaluator.isPaused {
                // A resource in several scopes is reported once.
                if position > 0 {
                    let walked = walked()
                    for earlier in plan.places[..<position] where earlier.reaches(walked) { return .no }
                    meter.add(position)
                }
                try evaluator.begin(member, at: path, properties)
            }
            let isResult = try evaluator.isTrue()
            let keys = isResult ? try evaluator.keys(plan.order) : []
            evaluator.finish()
            return isResult ? admit(member, keys, walked: walked, href: href) : .no
        } catch {
            switch error {
            case .paused: return .paused
            case .exhausted:
                evaluator.finish()
                (isExhausted, isTruncated) = (true, true)
                return .no
            case .failed(let error): throw error
            }
        }
    }

    private func admit(
        _ member: Member, _ keys: [SearchValue?], walked: () -> ResourcePath, href: () -> [UInt8]
    ) -> Admission {
        count += 1
        if plan.order.isEmpty {
            isTruncated = count > plan.limit
            return isTruncated ? .no : .yes
        }
        let isKept =
            plan.limit > 0
            && rows.insert(
                SearchRows.Row(path: walked(), href: href(), name: member.name, keys: keys, number: count))
        if !isKept { isTruncated = true }
        return .no
    }

    /// Returns the next result in order after the traversal has ended. Without an order, there are none.
    func nextRow() -> Ordered {
        if !isPrepared {
            isPrepared = rows.prepare()
            return .pending
        }
        return rows.next().map { .row($0) } ?? .end
    }
}

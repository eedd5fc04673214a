internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Decides which of the resources that a walk comes to are results, counts them, and puts them in order. Belongs to one
/// ``PropFindStream``.
///
/// Without an order nothing is kept. With one, at most as many results as are wanted, each with its path and the
/// beginnings of what it is ordered by.
final class SearchRun {
    /// Whether a resource is to be written now.
    enum Admission { case yes, no, paused }

    /// A step of writing what was put in order.
    enum Ordered {
        case row(SearchRows.Row)
        /// The next one is not known yet.
        case pending
        case end
    }

    private let plan: SearchPlan
    private let resources: any ResourceStore
    private let evaluator: SearchEvaluator
    let meter: SearchMeter
    /// Of `plan.places`, which one is walked.
    @safe @exclusivity(unchecked) var place = 0
    @safe @exclusivity(unchecked) private var count = 0
    @safe @exclusivity(unchecked) private var rows: SearchRows
    @safe @exclusivity(unchecked) private var isPrepared = false
    /// There are more results than the answer has.
    @safe @exclusivity(unchecked) private(set) var isTruncated = false
    /// The steps of the search are used up: no further resource is evaluated.
    @safe @exclusivity(unchecked) private(set) var isExhausted = false

    init(_ plan: SearchPlan, share: Share) {
        self.plan = plan
        resources = share.resources
        let configuration = share.configuration
        meter = SearchMeter(limit: configuration.searchStepLimit, pieceSteps: configuration.searchPieceSteps)
        evaluator = SearchEvaluator(plan.program, meter: meter)
        rows = SearchRows(plan.order, limit: max(1, plan.limit))
    }

    /// Nothing that the walk could still come to would be written.
    var isOver: Bool { isTruncated && plan.order.isEmpty }

    /// Evaluates the condition for a resource.
    ///
    /// - Parameters:
    ///   - path: canonical, of what it is.
    ///   - walked: how the walk has come there; another one for a link.
    ///   - href: made only if it is wanted.
    /// - Returns: `paused` if the piece is over; then the next call is to be about the same resource.
    func admits(
        _ member: Member, at path: ResourcePath, walked: ResourcePath, _ properties: [StoredProperty],
        href: () -> [UInt8]
    ) throws(WebDAVError) -> Admission {
        do throws(SearchStop) {
            if !evaluator.isPaused {
                // A resource in several scopes is one result.
                for earlier in plan.places[..<place] where earlier.reaches(walked) { return .no }
                meter.add(place)
                try evaluator.begin(
                    SearchSubject(member: member, path: path, properties: properties, resources: resources))
            }
            let isResult = try evaluator.isTrue()
            let keys = isResult ? try evaluator.keys(plan.order) : []
            evaluator.finish()
            return isResult ? admit(member, walked: walked, keys, href: href) : .no
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
        _ member: Member, walked: ResourcePath, _ keys: [SearchValue?], href: () -> [UInt8]
    ) -> Admission {
        count += 1
        if plan.order.isEmpty {
            isTruncated = count > plan.limit
            return isTruncated ? .no : .yes
        }
        let isKept =
            plan.limit > 0
            && rows.insert(
                SearchRows.Row(path: walked, href: href(), name: member.name, keys: keys, number: count))
        if !isKept { isTruncated = true }
        return .no
    }

    /// The next result in order, once the walk has ended; the end, without an order.
    func nextRow() -> Ordered {
        if !isPrepared {
            isPrepared = rows.prepare()
            return .pending
        }
        return rows.next().map { .row($0) } ?? .end
    }
}

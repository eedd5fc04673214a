internal import DavitHTTP
internal import DavitWebDAV
internal import Synchronization

/// A cache of the plans of recent request bodies, because clients send the same few bodies repeatedly.
///
/// A plan depends only on the body, so cached plans never become invalid.
final class PropFindPlans: Sendable {
    /// The maximum number of cached plans.
    private static let limit = 16
    /// The maximum size in bytes of a body whose plan is cached.
    private static let bodyLimit = 1024

    private struct Kept {
        var plans: [(body: XMLBody, plan: PropFindPlan)] = []
        /// The index of the oldest plan.
        var oldest = 0
    }

    private let kept = Mutex(Kept())

    func plan(for body: XMLBody) throws(WebDAVError) -> PropFindPlan {
        let known = kept.withLock { kept in
            kept.plans.first {
                $0.body.charset == body.charset && $0.body.bytes.hasSameBytes(as: body.bytes)
            }?.plan
        }
        if let known { return known }
        let parsed = try parsing { () throws(BodyError) in
            try PropFindBody.parse(body.bytes, charset: body.charset, limits: body.limits)
        }
        let plan = PropFindPlan(parsed)
        if body.bytes.count <= Self.bodyLimit { keep(plan, of: body) }
        return plan
    }

    private func keep(_ plan: PropFindPlan, of body: XMLBody) {
        kept.withLock { kept in
            if kept.plans.count < Self.limit { return kept.plans.append((body, plan)) }
            kept.plans[kept.oldest] = (body, plan)
            kept.oldest = (kept.oldest + 1) % Self.limit
        }
    }
}

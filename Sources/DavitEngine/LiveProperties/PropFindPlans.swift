internal import DavitHTTP
internal import DavitWebDAV
internal import Synchronization

/// The plans of the bodies that were parsed last: clients send the same few again and again.
///
/// A plan follows from the bytes of the body alone, so that a kept one is as good as a new one.
final class PropFindPlans: Sendable {
    /// How many are kept, and of bodies of how many bytes.
    private static let limit = 16
    private static let bodyLimit = 1024

    private struct Kept {
        var plans: [(body: [UInt8], plan: PropFindPlan)] = []
        /// The place of the oldest one.
        var oldest = 0
    }

    private let kept = Mutex(Kept())

    func plan(for body: [UInt8]) throws(WebDAVError) -> PropFindPlan {
        let known = kept.withLock { kept in kept.plans.first { $0.body.hasSameBytes(as: body) }?.plan }
        if let known { return known }
        let plan = PropFindPlan(try parsing { () throws(BodyError) in try PropFindBody.parse(body) })
        if body.count <= Self.bodyLimit { keep(plan, of: body) }
        return plan
    }

    private func keep(_ plan: PropFindPlan, of body: [UInt8]) {
        kept.withLock { kept in
            if kept.plans.count < Self.limit { return kept.plans.append((body, plan)) }
            kept.plans[kept.oldest] = (body, plan)
            kept.oldest = (kept.oldest + 1) % Self.limit
        }
    }
}

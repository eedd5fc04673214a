internal import DavitAccess
internal import DavitHTTP
internal import Synchronization

/// Decides which changes are reported to the client of an event stream.
///
/// Uses the rights at the time of each call, because a stream can outlive a change of rights. The rules of a folder leave with
/// it: shortly after a change of the rules, the removal of a folder that was hidden in its parent collection is not reported.
final class EventFilter: Sendable {
    private struct Views {
        var count: UInt64
        var current: any AccessView
        /// Those before the last change, and until when they hide removals; nil if there was none.
        var previous: (view: any AccessView, end: ContinuousClock.Instant)?
    }

    /// How long a removal can be reported after the rules have left.
    private static let previousDuration = Duration.seconds(60)

    private let policy: (any AccessPolicy)?
    private let principal: Principal
    /// Nil if the policy does not count its changes.
    private let views: Mutex<Views?>

    /// - Parameter policy: nil if every client may know of everything.
    init(_ policy: (any AccessPolicy)?, for principal: Principal) {
        self.policy = policy
        self.principal = principal
        let count = policy?.changes?.current
        let view = policy?.view(of: principal)
        views = Mutex(count.flatMap { count in view.map { Views(count: count, current: $0) } })
    }

    /// Whether the client may know of a change.
    /// - Parameter path: a canonical path.
    func mayReport(_ path: ResourcePath, isRemoval: Bool) -> Bool {
        guard let policy else { return true }
        guard let (current, previous) = updatedViews(of: policy) else {
            return policy.view(of: principal).shows(path)
        }
        return current.shows(path) && !(isRemoval && previous?.hidesMember(path) == true)
    }

    private func updatedViews(
        of policy: any AccessPolicy
    ) -> (current: any AccessView, previous: (any AccessView)?)? {
        views.withLock { views in
            guard var known = views, let count = policy.changes?.current else { return nil }
            if count != known.count {
                known = Views(
                    count: count, current: policy.view(of: principal),
                    previous: (known.current, .now + Self.previousDuration))
                views = known
            }
            return (known.current, known.previous.flatMap { .now < $0.end ? $0.view : nil })
        }
    }
}

extension AccessView {
    /// Whether the client may know of a resource: it may list it, or open it to reach something below.
    func shows(_ path: ResourcePath) -> Bool { rights(at: path).contains(.list) || leadsToRights(path) }

    /// Whether the client may list the parent collection of a resource, but not the resource.
    fileprivate func hidesMember(_ path: ResourcePath) -> Bool {
        guard let parent = path.parent else { return false }
        return rights(at: parent).contains(.list) && !shows(path)
    }
}

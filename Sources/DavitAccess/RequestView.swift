package import DavitHTTP
internal import Synchronization

/// What a principal may do in a request: the rights when it began, without those that have been withdrawn since.
///
/// With the rights of the beginning alone, a long request such as an archive or a copy would read what has been restricted in
/// the meantime, and restricted folders that have been moved with their rules into the collection. Rights that have been
/// granted in the meantime do not apply, so that the response is consistent with its ``fingerprint``.
package final class RequestView: AccessView {
    private let first: any AccessView
    private let policy: any AccessPolicy
    private let principal: Principal
    private let changes: AccessChangeCounter
    /// The number of changes before `first` was created.
    package let changeCount: UInt64
    /// What remains of `first` after a number of changes.
    private let remaining: Mutex<(changeCount: UInt64, view: IntersectedView)?> = Mutex(nil)

    /// - Parameter changes: those of `policy`.
    package init(of principal: Principal, _ policy: any AccessPolicy, _ changes: AccessChangeCounter) {
        self.principal = principal
        self.policy = policy
        self.changes = changes
        changeCount = changes.current
        first = policy.view(of: principal)
    }

    private var current: any AccessView {
        let count = changes.current
        return count == changeCount ? first : remaining(after: count)
    }

    private func remaining(after count: UInt64) -> IntersectedView {
        remaining.withLock { remaining in
            if let remaining, remaining.changeCount == count { return remaining.view }
            let view = IntersectedView([first, policy.view(of: principal)])
            remaining = (count, view)
            return view
        }
    }

    package func rights(at path: ResourcePath) -> Rights { current.rights(at: path) }
    package func leadsToRights(_ path: ResourcePath) -> Bool { current.leadsToRights(path) }
    package func rightsThroughout(_ path: ResourcePath) -> Rights { current.rightsThroughout(path) }
    package func members(of path: ResourcePath) -> MemberRights { current.members(of: path) }
    package var fingerprint: UInt64 { first.fingerprint }
}

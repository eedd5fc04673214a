internal import DavitAccess
internal import DavitHTTP
internal import Synchronization

/// The policy of a share that does not use its account database. If the accounts are those of another share, the limit of an
/// app password is a folder in that share: here, the app password has no rights.
final class OwnPolicy: AccessPolicy {
    private let policy: any AccessPolicy
    private let refusesLimited = Atomic<Bool>(false)

    init(_ policy: any AccessPolicy) { self.policy = policy }

    /// Takes all rights from principals with a limit.
    func refuseLimited() { refusesLimited.store(true, ordering: .relaxed) }

    private func isRefused(_ principal: Principal) -> Bool {
        principal.limit != nil && refusesLimited.load(ordering: .relaxed)
    }

    func view(of principal: Principal) -> any AccessView {
        isRefused(principal) ? NoRights() : policy.view(of: principal)
    }

    func view(of principal: Principal, ofTrashed id: String, from path: ResourcePath) -> (any AccessView)? {
        isRefused(principal) ? NoRights() : policy.view(of: principal, ofTrashed: id, from: path)
    }

    var changes: AccessChangeCounter? { policy.changes }
    func isPlace(_ path: ResourcePath) -> Bool { policy.isPlace(path) }
    func isFixed(_ path: ResourcePath) -> Bool { policy.isFixed(path) }
    var ruleMover: (any RuleMover)? { policy.ruleMover }
    func entries(at path: ResourcePath) -> [AccessControlEntry] { policy.entries(at: path) }
}

private struct NoRights: AccessView {
    func rights(at path: ResourcePath) -> Rights { .none }
    func leadsToRights(_ path: ResourcePath) -> Bool { false }
    func rightsThroughout(_ path: ResourcePath) -> Rights { .none }
}

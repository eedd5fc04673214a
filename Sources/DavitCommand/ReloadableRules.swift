internal import DavitAccess
internal import DavitHTTP
internal import Synchronization

/// The rules of a configuration file, which a reload replaces.
final class ReloadableRules: AccessPolicy {
    private let rules: Mutex<AccessRules>

    init(_ rules: AccessRules) { self.rules = Mutex(rules) }

    private var current: AccessRules { rules.withLock { $0 } }

    /// Puts other rules into effect, for each request that begins afterwards.
    func replace(with rules: AccessRules) { self.rules.withLock { $0 = rules } }

    func view(of principal: Principal) -> any AccessView { current.view(of: principal) }

    func isPlace(_ path: ResourcePath) -> Bool { current.isPlace(path) }

    func entries(at path: ResourcePath) -> [AccessControlEntry] { current.entries(at: path) }
}

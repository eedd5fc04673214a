public import DavitHTTP

/// Runs synchronous calls of the stores of a share as one unit, for stores in a database that several servers use.
///
/// Both calls run a body on the present thread. A query of the body that cannot be answered, for example because the
/// database is not reachable, ends the unit: the result of the body does not count then, and the call throws. So the calls
/// of ``ShareState`` that do not throw can be used all the same.
public protocol StoreSessions: Sendable {
    /// Runs a body that reads, or whose changes may be committed one by one.
    func run<Value>(_ body: () -> Value) throws(StoreSessionError) -> Value

    /// Runs a body whose changes are committed together, or not at all. Until then, changes of the same resources by other
    /// servers wait.
    ///
    /// - Parameters:
    ///   - uses: the paths that the change depends on or changes, each with everything below it.
    ///   - body: runs once. Returns whether to commit the changes.
    /// - Throws: `conflict` if another change was in the way, and nothing was changed.
    func change<Value>(
        _ uses: [PathUse], _ body: () -> (value: Value, commits: Bool)
    ) throws(StoreSessionError) -> Value

    /// Reads what opening a path needs, together with what other requests open, and then runs a body on the executor of the
    /// caller, which must not block: the body calls ``ResourceReader/open(_:wait:)`` for this path, with ``Wait/never``.
    /// - Returns: nil if the path could not be read, or if the body needed more. A unit of calls then finds out more.
    func whenPrepared<Value>(toOpen path: ResourcePath, _ body: () -> Value) async -> Value?

    /// Puts the access rules of the database into effect, if they are not those of this server: so that a request has the
    /// rights that another server was answered to have granted before.
    func refreshRights() async

    /// Runs an action on the present thread after the unit that it runs, whether its changes were committed or not.
    /// - Returns: false, without running the action, if the thread runs no unit.
    func afterUnit(_ action: @escaping () -> Void) -> Bool
}

/// A path that a change uses, with everything below it.
public struct PathUse: Hashable, Sendable {
    /// A canonical path.
    public var path: ResourcePath
    /// Whether other changes must not even use it.
    public var isExclusive: Bool

    /// - Parameters:
    ///   - path: see ``path``.
    ///   - isExclusive: see ``isExclusive``.
    public init(_ path: ResourcePath, isExclusive: Bool) {
        self.path = path
        self.isExclusive = isExclusive
    }
}

/// Why the stores could not do something as one unit.
public enum StoreSessionError: Error, Hashable, Sendable {
    /// Another change was in the way. Nothing is changed; another attempt may succeed.
    case conflict
    /// A query or the commit failed. Nothing is changed, unless the reason says otherwise.
    case failed(StoreError)
}

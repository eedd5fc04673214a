internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A change that only affects rows of the database.
struct RowChange<Outcome: Sendable>: Sendable {
    var rows: [StateChange]
    /// The result if the rows are committed.
    var outcome: Outcome
    /// Returns the result if the properties would exceed their size limit; nil to fail with the error of the commit.
    var outcomeIfTooLarge: (@Sendable () -> Outcome)?
}

/// A method that changes resources, properties or locks.
///
/// ``ChangeCommitter`` runs it and implements the checks of preconditions, `If` and locks for all methods. The final
/// checks run under path locks, atomically with the change. The steps are:
///
/// 1. Look up the resources, check them with ``check(_:)``, and check the locks that ``effects(on:)`` would violate.
/// 2. Call ``prepare(_:)``, which receives the body or builds a copy. No path locks are held, so this may take any
///    time. If ``skipsInitialLookup(_:)`` is true and no hook can refuse the change, this is the first step, with the
///    requested paths.
/// 3. Acquire path locks on the affected paths only, repeat the lookup and the checks, then call
///    ``commit(_:_:guard:)`` synchronously.
/// 4. Call ``finish(_:on:)``, which removes replaced resources and returns the response.
///
/// A brief change is prepared by ``prepareWithoutWaiting(_:)`` if its content has arrived, and committed in one
/// synchronous call. If that is on the event loop, ``response(to:on:)`` replaces the last step.
protocol ChangeMethod: Sendable {
    associatedtype Prepared: Sendable
    associatedtype Outcome: Sendable

    var share: Share { get }
    /// Whether a symbolic link at the target is followed, or is the target itself.
    var targetSegment: SymlinkMode { get }
    /// The requested destination, and whether a symbolic link there is followed; nil for most methods.
    var destination: (path: ResourcePath, last: SymlinkMode)? { get }

    /// Whether the initial lookup can be skipped, so that the lookup under path locks is the only one.
    ///
    /// This makes sense if preparing is cheap and an early refusal would save the client nothing, because there is no
    /// body, or a short one that the client is already sending.
    func skipsInitialLookup(_ request: HTTPRequest) -> Bool
    /// Whether `prepared`, the result of the preparation for the lookup `first`, can be committed with the later
    /// lookup `change`.
    func canReuse(_ prepared: Prepared, from first: ChangeTarget, in change: ChangeTarget) -> Bool

    /// Whether the method renames the target if the destination is only another spelling of its name.
    var respellsTarget: Bool { get }

    /// Returns the kind of action that hooks can refuse and are notified of; nil if hooks are not called.
    func actionKind(on change: ChangeTarget) -> ShareAction.Kind?
    /// Returns the tree that the method moves; nil if it moves nothing.
    func movedTree(on change: ChangeTarget) -> MovedTree?
    /// The trash entry that the method restores or removes; nil for other methods.
    var trashEntry: TrashEntry? { get }
    /// The lock that the method breaks; nil for other methods.
    var brokenLock: Lock? { get }
    /// Returns the received content of an upload; nil if there is none.
    func content(of prepared: Prepared) -> PreparedContent?

    /// Returns the rights that the client needs. Called only if there is an access policy, before ``check(_:)``, and with
    /// any state of the resources: a method that requires a resource that does not exist needs no rights to it.
    func requiredRights(on change: ChangeTarget) -> [RequiredRight]
    /// Checks the kinds and states of the resources, before preconditions, `If` and locks.
    /// - Throws: an error if the request can never succeed on these resources.
    func check(_ change: ChangeTarget) throws(WebDAVError)
    /// Returns the changes that the method would make to resources that ``check(_:)`` has accepted. Called only if there
    /// are locks.
    func effects(on change: ChangeTarget) -> [WriteEffect]
    /// Receives the body or builds a copy, without path locks.
    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> Prepared
    /// Prepares the change like ``prepare(_:)``, if no waiting is needed, and ``canCommitInline(_:)`` is true; otherwise
    /// returns nil.
    func prepareWithoutWaiting(_ request: HTTPRequest) throws(WebDAVError) -> Prepared?
    /// Removes content that was prepared for `change` and will not be committed.
    func discard(_ prepared: Prepared, for change: ChangeTarget) async
    /// Returns the requests for the path locks of the change.
    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest]
    /// Whether ``pathLockRequests(on:)`` queries the state.
    var pathLocksDependOnState: Bool { get }
    /// Whether the method creates a resource at a target that must not exist.
    var createsTarget: Bool { get }
    /// Whether the commit may be brief enough for the event loop. ``commitsInline(on:)`` decides after the lookup.
    func canCommitInline(_ prepared: Prepared) -> Bool
    /// Whether the commit is brief: a few changes of names, with little content and without rows.
    func commitsInline(on change: ChangeTarget) -> Bool
    /// Whether to try a brief change first on the assumption that the names it creates do not exist, which is faster.
    var expectsFreeNames: Bool { get }
    /// Returns the response to a brief change; nil if nothing was changed and the commit must be repeated where it may
    /// wait.
    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse?
    /// Whether the commit may have to copy much content, or to copy or remove many files.
    func commitsLongWork(on change: ChangeTarget, _ prepared: Prepared) -> Bool
    func commit(_ change: ChangeTarget, _ prepared: Prepared, guard: WriteGuard) throws(WebDAVError)
        -> Outcome
    /// Whether ``rowChange(_:_:guard:)`` may return a change.
    var mayChangeRowsOnly: Bool { get }
    /// Returns the change that `commit` would make if it affects only rows of the database; nil otherwise.
    ///
    /// The committer calls it on the event loop, together with the lookup and the checks; the commit of the rows then
    /// does not block a thread.
    func rowChange(
        _ change: ChangeTarget, _ prepared: Prepared, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>?
    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse

    /// What the audit log calls the change; nil if it is not recorded.
    var auditedOperation: AuditEvent.Operation? { get }
    /// Adds details of a commit to its record, which has the path of the target and that of the destination.
    /// - Returns: false if there is nothing to record, because nothing was changed.
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool
}

extension ChangeMethod {
    var targetSegment: SymlinkMode { .followed }
    func skipsInitialLookup(_ request: HTTPRequest) -> Bool {
        if request.expectsContinue { return false }
        return !request.body.isPresent || request.body.declaredLength.map { $0 <= Self.shortBytes } ?? false
    }
    /// The maximum size in bytes of a body that is received before the first lookup.
    static var shortBytes: Int64 { 64 << 10 }
    var destination: (path: ResourcePath, last: SymlinkMode)? { nil }
    func canReuse(_ prepared: Prepared, from first: ChangeTarget, in change: ChangeTarget) -> Bool { true }
    var respellsTarget: Bool { false }
    func movedTree(on change: ChangeTarget) -> MovedTree? { nil }
    func discard(_ prepared: Prepared, for change: ChangeTarget) async {}
    func commitsLongWork(on change: ChangeTarget, _ prepared: Prepared) -> Bool { false }
    var trashEntry: TrashEntry? { nil }
    var brokenLock: Lock? { nil }
    func content(of prepared: Prepared) -> PreparedContent? { nil }
    var createsTarget: Bool { false }
    func canCommitInline(_ prepared: Prepared) -> Bool { false }
    func commitsInline(on change: ChangeTarget) -> Bool { false }
    var expectsFreeNames: Bool { false }
    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse? { nil }
    func prepareWithoutWaiting(_ request: HTTPRequest) throws(WebDAVError) -> Prepared? { nil }
    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        [PathLockRequest(path: change.target.path, mode: .exclusive)]
    }
    var pathLocksDependOnState: Bool { false }
    var mayChangeRowsOnly: Bool { false }
    func rowChange(
        _ change: ChangeTarget, _ prepared: Prepared, guard: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? { nil }
}

extension ChangeMethod where Prepared == Void {
    func prepare(_ change: ChangeTarget) async throws(WebDAVError) {}
    func prepareWithoutWaiting(_ request: HTTPRequest) -> Prepared? {
        canCommitInline(()) && !request.body.isPresent ? () : nil
    }
}

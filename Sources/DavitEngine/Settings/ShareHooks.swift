internal import DavitHTTP
internal import DavitStore

/// Callbacks through which an application decides on changes to a share, and is notified of changes and
/// downloads.
///
/// ```swift
/// share.hooks.allows = { action in action.kind != .delete || action.principal == "anna" }
/// share.hooks.completed = { action in print(action.kind, action.filePath) }
/// ```
public struct ShareHooks: Sendable {
    /// Returns whether an action is allowed. Called once for each upload, move, copy, deletion, new
    /// collection, restored or purged trash entry, and broken lock, after all other checks have passed: for
    /// an upload, when its content has arrived completely but is not yet visible to clients; otherwise,
    /// before anything changes. If it returns false, the request is refused with 403 and nothing changes. If
    /// it is nil, every action is allowed.
    ///
    /// Runs on the event loop and must not block it, but may await asynchronous work for any time; other
    /// changes are not delayed. If another client changes the affected resources in the meantime, the request
    /// fails with 503 and can be retried.
    public var allows: (@Sendable (ShareAction) async -> Bool)?
    /// Called once for each successful action, including downloads, immediately before the response is sent.
    /// Not called for actions that failed or succeeded only in part. For a download it is called when the
    /// response begins. Runs on the thread of the request and must not block; pass longer work on, for
    /// example to an `AsyncStream`.
    public var completed: (@Sendable (ShareAction) -> Void)?
    /// Examines the content of uploads, after ``allows``; nil if it is not examined.
    package var uploadCheck: (any UploadCheck)?
    /// Called for each lock that was broken. Runs on the thread that broke the lock and must not block.
    public var lockBroken: (@Sendable (BrokenLock) -> Void)?

    /// Creates hooks without callbacks: every action is allowed.
    public init() {}

    /// Whether no hook is called for a change.
    var areEmpty: Bool { !canRefuse && completed == nil }

    /// Whether a hook can refuse changes.
    var canRefuse: Bool { allows != nil || uploadCheck != nil }
}

internal import DavitHTTP
internal import DavitStore

/// Callbacks through which an application decides on changes to a share and is notified of them.
///
/// ```swift
/// share.hooks.allows = { action in action.kind != .delete || action.principal == "anna" }
/// share.hooks.completed = { action in print(action.kind, action.filePath) }
/// ```
public struct ShareHooks: Sendable {
    /// Returns whether an action is allowed. Called once for each upload, move, copy, deletion, new
    /// collection, restored or purged trash entry, and broken lock, after all other checks have passed: for
    /// an upload when its content has arrived completely but is not yet visible to clients, otherwise before
    /// anything changes. If it returns false, the request is refused with 403 and nothing changes. If it is
    /// nil, every action is allowed.
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
    /// Called for each lock that was broken. Runs on the thread that broke the lock and must not block.
    public var lockBroken: (@Sendable (BrokenLock) -> Void)?

    /// Creates hooks that allow everything and are not notified.
    public init() {}

    /// Whether neither ``allows`` nor ``completed`` is set.
    var areEmpty: Bool { allows == nil && completed == nil }
}

extension Share {
    /// Checks that the rules allow the name of the content that a change creates.
    /// - Throws: 403 if they do not.
    func checkName<Method: ChangeMethod>(of method: Method, on change: ChangeTarget) throws(WebDAVError) {
        guard let rules, let made = Self.madeContent(by: method.actionKind(on: change), on: change) else {
            return
        }
        if rules.refuses(content: made.name) { throw WebDAVError(.forbidden) }
    }

    /// Returns the path at which a change creates or renames content; nil if it does neither.
    private static func madeContent(by kind: ShareAction.Kind?, on change: ChangeTarget) -> ResourcePath? {
        switch kind {
        case .upload: (change.destination ?? change.target).path
        case .move, .copy: change.resolved.info?.isCollection == false ? change.destination?.path : nil
        // Restoring checks the name in its own method.
        case .download, .delete, .createCollection, .restore, .purge, .breakLock, nil: nil
        }
    }

    /// Returns the action that hooks are asked about or notified of; nil without hooks.
    func action<Method: ChangeMethod>(of method: Method, on change: ChangeTarget) -> ShareAction? {
        if configuration.hooks.areEmpty { return nil }
        guard let kind = method.actionKind(on: change) else { return nil }
        if let entry = method.trashEntry { return ShareAction(kind, of: entry, on: change, in: self) }
        if let lock = method.brokenLock {
            // If the lock root is not the target, it is a collection above the target.
            let isCollection = lock.root != change.target.path || change.target.info?.isCollection == true
            return ShareAction(breaking: lock, isCollection, by: change.context.principal, in: self)
        }
        return ShareAction(kind, on: change, in: self)
    }

    /// Asks the hook whether an action is allowed, if a hook is set.
    /// - Throws: 403 if the action is not allowed.
    func ask(about action: ShareAction, _ content: PreparedContent? = nil) async throws(WebDAVError) {
        guard let allows = configuration.hooks.allows else { return }
        var action = action
        if action.kind == .upload { action.content = UploadedContent(content, in: self) }
        guard await allows(action) else { throw WebDAVError(.forbidden) }
    }

    /// Checks that the action is still the one that the hook allowed.
    /// - Throws: 503 if the resources have changed so that it is another action.
    func checkAllowed<Method: ChangeMethod>(
        _ method: Method, from first: ChangeTarget, on current: ChangeTarget
    ) throws(WebDAVError) {
        guard configuration.hooks.allows != nil, let now = action(of: method, on: current) else { return }
        guard let then = action(of: method, on: first), now.isSame(as: then) else { throw .busy }
    }

    /// Notifies the hook of a change that succeeded completely.
    func notify(_ action: ShareAction?, _ response: HTTPResponse) {
        guard let completed = configuration.hooks.completed, let action else { return }
        // A 207 response reports failures.
        if response.status != .multistatus, response.status.code < 300 { completed(action) }
    }
}

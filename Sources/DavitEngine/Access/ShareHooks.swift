internal import DavitHTTP
internal import DavitStore

/// What an application decides about the changes of a share, and hears of what was done.
///
/// ```swift
/// share.hooks.allows = { action in action.kind != .delete || action.principal == "anna" }
/// share.hooks.told = { action in print(action.kind, action.filePath) }
/// ```
public struct ShareHooks: Sendable {
    /// Asked once about each upload, move, copy, deletion and new collection, and before a lock is ended in the place
    /// of its holder, if nothing else forbids it: for an upload when
    /// all of it has come and nobody sees it yet, else before anything is done. After false the answer is 403, and nothing
    /// has changed. Everything is allowed unless set.
    ///
    /// It runs on the event loop and must not block that, but may wait for what is asynchronous as long as it likes; other
    /// changes are not held up. Where somebody changes meanwhile what it was asked about, the
    /// client gets 503 and may try again.
    public var allows: (@Sendable (ShareAction) async -> Bool)?
    /// Told once of everything that was done, downloads included, just before the answer is sent: not of what failed, or
    /// of what was done in part. A download is told when its answer begins. Runs on the thread of the request and must
    /// not block; hand on to an `AsyncStream` what takes longer.
    public var told: (@Sendable (ShareAction) -> Void)?
    /// Told of each lock that somebody has ended in the place of its holder. Runs on the thread that did it and must not block.
    public var lockBroken: (@Sendable (BrokenLock) -> Void)?

    /// Allows everything, and hears of nothing.
    public init() {}

    /// True if nobody is to be asked about changes, or told of them.
    var areEmpty: Bool { allows == nil && told == nil }
}

extension Share {
    /// Refuses a name that what the change makes may not have.
    func checkName<Method: ChangeMethod>(of method: Method, on scene: Scene) throws(WebDAVError) {
        guard let rules, let made = Self.madeContent(by: method.actionKind(on: scene), on: scene) else {
            return
        }
        if rules.refuses(content: made.name) { throw WebDAVError(.forbidden) }
    }

    /// Where a change makes content, or gives content a name.
    private static func madeContent(by kind: ShareAction.Kind?, on scene: Scene) -> ResourcePath? {
        switch kind {
        case .upload: (scene.destination ?? scene.target).path
        case .move, .copy: scene.subject.info?.isCollection == false ? scene.destination?.path : nil
        // What is restored says itself what it is.
        case .download, .delete, .createCollection, .restore, .purge, .breakLock, nil: nil
        }
    }

    /// What hooks are asked about, or told of; nil without hooks.
    func action<Method: ChangeMethod>(of method: Method, on scene: Scene) -> ShareAction? {
        if configuration.hooks.areEmpty { return nil }
        guard let kind = method.actionKind(on: scene) else { return nil }
        if let entry = method.trashEntry { return ShareAction(kind, of: entry, on: scene, in: self) }
        if let lock = method.brokenLock {
            // Of what is not the root, it is a collection above.
            let isCollection = lock.root != scene.target.path || scene.target.info?.isCollection == true
            return ShareAction(breaking: lock, isCollection, by: scene.context.principal, in: self)
        }
        return ShareAction(kind, on: scene, in: self)
    }

    /// Asks about an action, if anybody wants to be asked.
    /// - Throws: 403 if it is not allowed.
    func ask(about action: ShareAction, _ content: PreparedContent? = nil) async throws(WebDAVError) {
        guard let allows = configuration.hooks.allows else { return }
        var action = action
        if action.kind == .upload { action.content = UploadedContent(content, in: self) }
        guard await allows(action) else { throw WebDAVError(.forbidden) }
    }

    /// Nobody was asked about what would now be done: it is another change than the one that was allowed.
    func checkAllowed<Method: ChangeMethod>(
        _ method: Method, from first: Scene, on current: Scene
    ) throws(WebDAVError) {
        guard configuration.hooks.allows != nil, let now = action(of: method, on: current) else { return }
        guard let then = action(of: method, on: first), now.isSame(as: then) else { throw .busy }
    }

    /// Tells of a change, if it was done whole.
    func tell(_ action: ShareAction?, _ response: HTTPResponse) {
        guard let told = configuration.hooks.told, let action else { return }
        // A 207 is about what was not done.
        if response.status != .multistatus, response.status.code < 300 { told(action) }
    }
}

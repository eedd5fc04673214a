internal import DavitHTTP
internal import DavitStore

extension ChangeCommitter {
    /// Checks that the rules of the share allow the name of the content that a change uploads, copies or moves.
    /// - Throws: 403 if the name is not allowed.
    func checkName(on change: ChangeTarget) throws(WebDAVError) {
        guard let rules = share.rules,
            let made = Self.madeContent(by: method.actionKind(on: change), on: change)
        else {
            return
        }
        if rules.refuses(content: made.name) { throw WebDAVError(.forbidden) }
    }

    /// Returns the new path of the content that a change uploads, copies or moves; nil for collections and other
    /// changes.
    private static func madeContent(by kind: ShareAction.Kind?, on change: ChangeTarget) -> ResourcePath? {
        switch kind {
        case .upload: (change.destination ?? change.target).path
        case .move, .copy: change.resolvedInfo?.isCollection == false ? change.destination?.path : nil
        // `RestoreMethod` checks the name itself.
        case .download, .delete, .createCollection, .restore, .purge, .breakLock, nil: nil
        }
    }

    /// Returns the action to pass to hooks; nil if there are no hooks or the change is not an action for them.
    func action(on change: ChangeTarget) -> ShareAction? {
        if !share.hasHooks { return nil }
        guard let kind = method.actionKind(on: change) else { return nil }
        if let entry = method.trashEntry {
            return ShareAction(kind, of: entry, on: change, locatedBy: share.configuration.filePath)
        }
        if let lock = method.brokenLock {
            // The lock covers the target, so a different lock root is a collection above it.
            let isCollection = lock.root != change.target.path || change.target.info?.isCollection == true
            return ShareAction(
                breaking: lock, isCollection, by: change.context.principal,
                locatedBy: share.configuration.filePath)
        }
        return ShareAction(kind, on: change, locatedBy: share.configuration.filePath)
    }

    /// Asks the hooks, if any, whether an action is allowed.
    /// - Parameter content: the received content of an upload.
    /// - Throws: 403 if the action is not allowed; 503 if the content of an upload cannot be examined.
    func ask(about action: ShareAction, _ content: PreparedContent? = nil) async throws(WebDAVError) {
        if let allows = hooks.allows {
            var action = action
            if action.kind == .upload { action.content = UploadedContent(content, share.work) }
            guard await allows(action) else { throw WebDAVError(.forbidden) }
        }
        guard let check = hooks.uploadCheck, action.kind == .upload, let content else { return }
        let slot = try await share.uploadChecks.enter(for: context)
        defer { withExtendedLifetime(slot) {} }
        let upload = ReceivedUpload(action, content, from: context.request.peerAddress)
        switch await check.examine(upload) {
        case .accepted: return
        case .refused: throw WebDAVError(.forbidden)
        case .unavailable: throw .busy
        }
    }

    /// Checks that the action is still the one that the hook allowed.
    /// - Throws: 503 if the resources have changed in the meantime, so that the action is a different one.
    func checkAllowed(
        from first: ChangeTarget, on current: ChangeTarget
    ) throws(WebDAVError) {
        guard share.hooksCanRefuse, let now = action(on: current) else { return }
        guard let then = action(on: first), now.isSame(as: then) else { throw .busy }
    }

    /// Notifies the hook, if any, of a completely successful change.
    func notify(of change: ChangeTarget, _ response: HTTPResponse) {
        guard share.hasHooks, let completed = hooks.completed, let action = action(on: change) else { return }
        // A 207 response reports failures.
        if response.status != .multistatus, response.status.code < 300 { completed(action) }
    }
}

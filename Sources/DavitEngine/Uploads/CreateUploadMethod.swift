internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// Creates an upload: performs the checks of a PUT to its target, and creates the file for the bytes.
struct CreateUploadMethod: ChangeMethod {
    struct Outcome: Sendable {
        let record: UploadRecord
        let content: any UploadContent
    }

    let share: Share
    let terms: UploadParameters
    let put: PutMethod
    private let id = UploadResource.newID()
    /// Receives the outcome, because the response is sent later.
    let made: CreatedUpload

    final class CreatedUpload: Sendable {
        private let outcome = Mutex<Outcome?>(nil)
        func set(_ outcome: Outcome) { self.outcome.withLock { $0 = outcome } }
        func take() -> Outcome? { outcome.withLock { $0.take() } }
    }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        [.writing(change.target)]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try put.check(change)
        if share.rules?.refuses(content: change.target.path.name) == true { throw WebDAVError(.forbidden) }
        if terms.options.contains(.choosesName), change.target.info != nil {
            throw WebDAVError(store: .alreadyExists)
        }
        try share.receiver.checkLength(terms.length ?? 0)
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        // A part has no target of its own, so only the locks on the collection matter.
        terms.options.contains(.isPart) ? [.member(change.target.path)] : put.effects(on: change)
    }

    /// Nil, because the upload is recorded when it is complete.
    var auditedOperation: AuditEvent.Operation? { nil }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool { false }

    /// Nil, because nothing visible is created: the hooks are called when the upload is complete.
    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { nil }

    /// Measures the collections in the trash if the upload does not fit without removing trash entries: whether
    /// it can be accepted then depends on their sizes. Measuring can take long, so it runs without path locks.
    func prepare(_ change: ChangeTarget) async throws(WebDAVError) {
        guard let length = terms.length, share.configuration.trash != nil, share.state.hasTrash,
            let collection = change.target.path.parent
        else { return }
        let share = share
        await share.work.cleanUp {
            guard let room = try? share.resources.room(at: collection), room < length else {
                return
            }
            share.trashMaintenance.measure()
        }
    }

    func commit(_ change: ChangeTarget, _ prepared: Void, guard check: WriteGuard) throws(WebDAVError)
        -> Outcome
    {
        let path = change.target.path
        guard let collection = path.parent else {
            throw share.methodNotAllowed(AllowedMethods.collection, at: change.target, change.context)
        }
        if terms.fieldLines.count > share.configuration.uploadFieldLimitBytes {
            share.limitLog.refused("size of an upload's header fields", change.context)
            throw WebDAVError(.fieldsTooLarge)
        }
        let bytes = UploadRecord.chargedBytes(
            collection: collection, name: path.name, fieldLines: terms.fieldLines)
        let forgotten = share.state.admitsUpload(
            of: bytes, for: change.context.client, share.configuration.uploadLimits)
        guard let forgotten else {
            share.limitLog.refused("number or size of uploads", change.context)
            throw WebDAVError(.insufficientStorage)
        }
        let content = try storing { () throws(StoreError) in
            try share.space.announcing(terms.length, at: path) { (length) throws(StoreError) in
                try share.resources.stageUpload(for: change.target.location, expectedLength: length)
            }
        }
        let record = UploadRecord(
            id: id, collection: collection, name: Array(path.name), stagedName: content.stagedName,
            identity: content.identity, principal: change.context.principal,
            network: change.context.network, fieldLines: terms.fieldLines, options: terms.options,
            progress: UploadRecord.Progress(
                length: terms.length,
                expiry: change.context.now.adding(seconds: share.configuration.uploadSeconds)))
        let changes = forgotten.map { StateChange.removeUpload(id: $0) } + [.putUpload(record)]
        do throws(StateError) { try share.state.commit(changes) } catch {
            try? content.remove()
            throw WebDAVError(state: error)
        }
        return Outcome(record: record, content: content)
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        made.set(outcome)
        return HTTPResponse(status: .created)
    }
}

internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Resumable uploads, which span several requests: the engine shared by the supported protocols.
///
/// The bytes are stored in a hidden file in the folder of the target; a database row describes the upload.
/// When all bytes are stored, the file gets the name of the target in the same way as in any other change.
package struct UploadEngine: Sendable {
    let share: Share

    package init(share: Share) { self.share = share }

    // MARK: Lookup

    /// - Throws: 404 if the upload does not exist or belongs to another user; 410 if it has expired.
    func find(_ id: String?, _ context: RequestContext) async throws(WebDAVError) -> UploadRecord {
        guard let id, let record = try await record(id), record.principal == context.principal else {
            throw WebDAVError(.notFound)
        }
        // The rights of the client may have changed since the upload began.
        if let access = share.access, let target = record.target,
            access.rights(at: target).isDisjoint(with: [.create, .change])
        {
            throw WebDAVError(share.isVisible(target) ? .forbidden : .notFound)
        }
        // An upload does not expire while a request is using it.
        if record.progress.expiry <= context.now, !share.uploads.isInUse(id) { throw WebDAVError(.gone) }
        return record
    }

    /// Returns the record of an upload; nil if there is none.
    func record(_ id: String) async throws(WebDAVError) -> UploadRecord? {
        let state = share.state
        return try await share.work.attempt { _ throws(WebDAVError) in state.upload(id) }
    }

    /// Checks, before content is received, that the client may still create or replace the target of an upload.
    /// - Throws: 403.
    func checkRights(_ record: UploadRecord, _ context: RequestContext) async throws(WebDAVError) {
        guard share.access != nil, let target = record.target else { return }
        let (share, context) = (share, context.member(target))
        try await share.work.attempt { wait throws(WebDAVError) in
            let lookup = try storing { () throws(StoreError) in
                try share.lookup.resources(
                    at: target, last: .followed, reusing: nil, .first(wait)
                ).named
            }
            try WriteGuard(share: share, context: context, wait: wait).checkRights(
                [.writing(lookup)],
                for: ChangeTarget(context: context, target: lookup))
        }
    }

    /// Takes the turn of an upload from the request that has it, if any.
    ///
    /// - Parameter body: The body that this request will append; nil if it only reads.
    /// - Throws: 404 if the upload or its file no longer exists; 503 while the upload is being completed.
    func begin(_ record: UploadRecord, _ body: (any RequestBody)?) async throws(WebDAVError) -> Session {
        let (engine, abortHandler) = (self, body?.abortHandler)
        return try await share.work.run { () throws(WebDAVError) in
            try engine.takeTurn(of: record, abortHandler)
        }
    }

    /// Takes the turn like ``begin(_:_:)``. Blocks.
    /// - Parameter abortHandler: aborts the calling request.
    func takeTurn(
        of record: UploadRecord, _ abortHandler: (@Sendable () -> Void)?
    ) throws(WebDAVError) -> Session {
        let lease = share.uploads.enter(record.id)
        let (turn, offset) = try lease.upload.takeTurn(abortHandler: abortHandler) {
            () throws(WebDAVError) in
            // Read the record as the previous request left it.
            guard let current = share.state.upload(record.id) else { throw WebDAVError(.notFound) }
            return try open(current)
        }
        guard let current = share.state.upload(record.id) else { throw WebDAVError(.notFound) }
        return Session(lease, current, turn, offset: offset)
    }

    /// Opens the bytes as left by the last request, or by the last run of the server.
    func open(_ record: UploadRecord) throws(WebDAVError) -> any UploadContent {
        guard let target = record.target else { throw WebDAVError(.notFound) }
        let content: any UploadContent
        do throws(StoreError) {
            content = try share.resources.upload(
                named: record.stagedName, record.identity, for: ResourceLocation(target))
        } catch {
            switch error {
            case .notFound, .missingAncestor, .loop: break
            // The upload is in the trash, or not accessible to the server, and may become available again.
            case .forbidden: throw WebDAVError(.notFound)
            default: throw WebDAVError(store: error)
            }
            if try !completeRecord(record, target) { try drop(record) }
            throw WebDAVError(.notFound)
        }
        if content.hasOtherName, try completeRecord(record, target) {
            try storing { () throws(StoreError) in try content.remove() }
            throw WebDAVError(.notFound)
        }
        let acknowledged = record.progress.offset
        // A client may already have discarded acknowledged bytes, so they cannot be requested again.
        if content.length < acknowledged {
            try drop(record)
            throw WebDAVError(.notFound)
        }
        // Another server may have received more until the content was opened, or has taken over since.
        guard let progress = share.state.upload(record.id)?.progress else { throw WebDAVError(.notFound) }
        if content.length < progress.offset { throw OpenUpload.superseded }
        if content.length > progress.offset, progress.isUnverified || content.needsSync {
            try storing { () throws(StoreError) in try content.truncate(to: progress.offset) }
        }
        return content
    }

    /// Marks an upload as complete in its row, if a crash occurred after its file got its name.
    /// - Returns: Whether the upload was complete.
    private func completeRecord(_ record: UploadRecord, _ target: ResourcePath) throws(WebDAVError) -> Bool {
        let info = try storing { () throws(StoreError) in
            try share.stored.lookup(target, last: .notFollowed, wait: .allowed).info
        }
        guard let info, info.identity == record.identity else { return false }
        var progress = record.progress
        progress.length = info.length
        progress.offset = info.length
        progress.isComplete = true
        try commit([.setUploadProgress(id: record.id, progress)])
        return true
    }

    // MARK: Creation

    /// Creates an upload and takes its turn.
    ///
    /// - Parameters:
    ///   - targets: The target; several candidates, of which the first free one is used, if
    ///     ``UploadRecord/Options/choosesName`` is set.
    ///   - context: The context of the request that creates the upload.
    func create(
        at targets: [ResourcePath], _ terms: UploadParameters, _ context: RequestContext
    ) async throws(WebDAVError) -> Session {
        let request = try UploadRecord.head(terms.fieldLines, for: context.request)
        // Check the fields now; the final PUT would reject them too late.
        let put = try PutMethod(share: share, request: request)
        let targets = targets.filter { !share.urls.isHidden($0) }
        if targets.isEmpty { throw WebDAVError(.forbidden) }
        for target in targets {
            do throws(WebDAVError) {
                let made = CreateUploadMethod.CreatedUpload()
                let method = CreateUploadMethod(share: share, terms: terms, put: put, made: made)
                _ = try await ChangeCommitter(
                    method,
                    context.replacing(
                        request, at: target, endsInSlash: context.endsInSlash && target == context.path)
                ).run()
                guard let outcome = made.take() else { throw .busy }
                return try await enter(outcome, put.upload.digests, context.request)
            } catch {
                guard error.lostRace, terms.options.contains(.choosesName) else { throw error }
            }
        }
        throw .busy
    }

    private func enter(
        _ made: CreateUploadMethod.Outcome, _ digests: [ContentDigest], _ request: HTTPRequest
    ) async throws(WebDAVError) -> Session {
        let (share, abortHandler) = (share, request.body.abortHandler)
        // A client that sends a digest of the complete content at the end announces its algorithm in
        // Want-Repr-Digest.
        let algorithms = digests.map(\.algorithm) + WantDigest(request).representation.prefix(1)
        return try await share.work.run { () throws(WebDAVError) in
            let lease = share.uploads.enter(made.record.id)
            let (turn, offset) = try lease.upload.takeTurn(abortHandler: abortHandler) { made.content }
            lease.upload.beginDigests(algorithms)
            return Session(lease, made.record, turn, offset: offset)
        }
    }

    // MARK: Rows

    func commit(_ changes: [StateChange]) throws(WebDAVError) {
        do throws(StateError) { try share.state.commit(changes) } catch { throw WebDAVError(state: error) }
    }

    func commitWithoutBlocking(_ changes: [StateChange]) async throws(WebDAVError) {
        if share.hasSessions {
            let engine = self
            return try await share.work.run { () throws(WebDAVError) in try engine.commit(changes) }
        }
        do throws(StateError) { try await share.state.commitWithoutBlocking(changes) } catch {
            throw WebDAVError(state: error)
        }
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Uploads that go on over several requests: one engine, and on top of it the protocols that clients speak.
///
/// The bytes are a file beside the target that nobody sees; a row says what it is to become. When all of them are there,
/// the file gets the name of the target in the way of every other change.
struct UploadEngine: Sendable {
    let share: Share

    // MARK: Finding

    /// - Throws: 404 if it is not there, or somebody else's; 410 if its time is up.
    func find(_ id: String?, _ context: RequestContext) throws(WebDAVError) -> UploadRecord {
        guard let id, let record = share.state.upload(id), record.principal == context.principal else {
            throw WebDAVError(.notFound)
        }
        // Whoever sends something just now has until its end.
        if record.progress.expiry <= context.now, !share.uploads.isInUse(id) { throw WebDAVError(.gone) }
        return record
    }

    /// Takes the turn from whoever has it.
    ///
    /// - Parameter body: what this request will append; nil if it only looks.
    /// - Throws: 404 if its bytes are gone, which is noticed now.
    func begin(_ record: UploadRecord, _ body: (any RequestBody)?) async throws(WebDAVError) -> Session {
        let (engine, cutOff) = (self, body?.cutOff)
        return try await share.offload { () throws(WebDAVError) in
            let stay = engine.share.uploads.enter(record.id)
            let (turn, offset) = try stay.upload.takeTurn(cutOff: cutOff) { () throws(WebDAVError) in
                // As the request that had the turn has left it.
                guard let current = engine.share.state.upload(record.id) else {
                    throw WebDAVError(.notFound)
                }
                return try engine.open(current)
            }
            guard let current = engine.share.state.upload(record.id) else { throw WebDAVError(.notFound) }
            return Session(stay, current, turn, offset: offset)
        }
    }

    /// Opens the bytes as the last request, or the last run of the server, has left them.
    func open(_ record: UploadRecord) throws(WebDAVError) -> any UploadContent {
        guard let target = record.target else { throw WebDAVError(.notFound) }
        let content: any UploadContent
        do throws(StoreError) {
            content = try share.resources.upload(
                named: record.stagedName, record.identity, for: Place(target))
        } catch {
            switch error {
            case .notFound, .missingAncestor, .loop: break
            // In the trash, or closed to the server: it may come back.
            case .forbidden: throw WebDAVError(.notFound)
            default: throw WebDAVError(store: error)
            }
            if try !settle(record, target) { try drop(record) }
            throw WebDAVError(.notFound)
        }
        if content.hasOtherName, try settle(record, target) {
            try storing { () throws(StoreError) in try content.remove() }
            throw WebDAVError(.notFound)
        }
        let acknowledged = record.progress.offset
        // A client may have let go of what was acknowledged.
        if content.length < acknowledged {
            try drop(record)
            throw WebDAVError(.notFound)
        }
        if content.length > acknowledged, record.progress.isUnverified || content.needsSync {
            try storing { () throws(StoreError) in try content.truncate(to: acknowledged) }
        }
        return content
    }

    /// Writes the row that says that an upload is complete, if a crash came between that and its bytes' getting their name.
    /// - Returns: whether that is so.
    private func settle(_ record: UploadRecord, _ target: ResourcePath) throws(WebDAVError) -> Bool {
        let info = try storing { () throws(StoreError) in
            try share.stored.lookup(target, last: .itself, wait: .allowed).info
        }
        guard let info, info.identity == record.identity else { return false }
        var progress = record.progress
        progress.length = info.length
        progress.offset = info.length
        progress.isComplete = true
        try commit([.setUploadProgress(id: record.id, progress)])
        return true
    }

    // MARK: Creating

    /// Makes an upload, whose turn the caller has then.
    ///
    /// - Parameters:
    ///   - targets: where it shall be; of several the first that is free, if ``UploadRecord/Options/choosesName``.
    ///   - context: of the request that creates it.
    func create(
        at targets: [ResourcePath], _ terms: UploadTerms, _ context: RequestContext
    ) async throws(WebDAVError) -> Session {
        let request = try UploadRecord.head(terms.fieldLines, for: context.request)
        // A PUT would find it out too late.
        let put = try PutMethod(share: share, request: request)
        let targets = targets.filter { !share.hides($0) }
        if targets.isEmpty { throw WebDAVError(.forbidden) }
        for target in targets {
            do throws(WebDAVError) {
                let made = CreateUploadMethod.Made()
                let method = CreateUploadMethod(share: share, terms: terms, put: put, made: made)
                _ = try await share.change(
                    method,
                    context: context.replacing(
                        request, at: target, endsInSlash: context.endsInSlash && target == context.path))
                guard let outcome = made.take() else { throw .busy }
                return try await enter(outcome, put.upload.digests, context.request)
            } catch {
                guard error.isOvertaken, terms.options.contains(.choosesName) else { throw error }
            }
        }
        throw .busy
    }

    private func enter(
        _ made: CreateUploadMethod.Outcome, _ digests: [ContentDigest], _ request: HTTPRequest
    ) async throws(WebDAVError) -> Session {
        let (share, cutOff) = (share, request.body.cutOff)
        // Whoever names the digest of the whole in the end says here which kind that will be.
        let algorithms = digests.map(\.algorithm) + DigestWish(request).representation.prefix(1)
        return try await share.offload { () throws(WebDAVError) in
            let stay = share.uploads.enter(made.record.id)
            let (turn, offset) = try stay.upload.takeTurn(cutOff: cutOff) { made.content }
            stay.upload.beginDigests(algorithms)
            return Session(stay, made.record, turn, offset: offset)
        }
    }

    // MARK: Rows

    func commit(_ changes: [StateChange]) throws(WebDAVError) {
        do throws(StateError) { try share.state.commit(changes) } catch { throw WebDAVError(state: error) }
    }

    func commitWithoutBlocking(_ changes: [StateChange]) async throws(WebDAVError) {
        do throws(StateError) { try await share.state.commitWithoutBlocking(changes) } catch {
            throw WebDAVError(state: error)
        }
    }
}

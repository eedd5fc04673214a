internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// A partial update of content: PATCH (RFC 5789) with the media type that ``ContentPart`` supports, and PUT
/// with `Content-Range` (RFC 9110 §14.5).
///
/// The part is received like the body of a PUT and written into a copy of the content, which then replaces the content
/// as for PUT. Readers therefore never see a half-applied update, even after a crash.
///
/// The copy is built before the path lock is acquired. If the content has changed in the meantime, the copy is built
/// again under the lock, so that neither of two concurrent updates is lost.
struct PatchMethod: UploadingMethod {
    struct Prepared: Sendable {
        /// The received part.
        var part: PreparedContent
        /// The updated content, and the entity tag of the content it is based on; nil if the resource does
        /// not exist yet.
        var update: (content: any StagedContent, base: EntityTag)?
    }

    let share: Share
    let part: ContentPart
    /// Whether a missing resource is created: true for PUT, false for PATCH.
    private let creates: Bool

    let put: PutMethod

    init(share: Share, request: HTTPRequest) throws(WebDAVError) {
        self.share = share
        creates = request.method == .put
        put = try PutMethod(share: share, request: request, isPart: true)
        part = creates ? try ContentPart(ofPut: request) : try ContentPart(ofPatch: request)
    }

    /// False, because the current content determines whether the request is valid, and is copied without path locks.
    func skipsInitialLookup(_ request: HTTPRequest) -> Bool { false }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        if change.target.info == nil, !creates { return [] }
        var right = RequiredRight.writing(change.target)
        right.creates = creates
        return [right]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        if change.target.info == nil, !creates { throw WebDAVError(.notFound) }
        if change.target.info?.isCollection == false, !creates, change.context.endsInSlash {
            throw WebDAVError(.notFound)
        }
        try put.check(change)
        let current = change.target.info?.length ?? 0
        let offset = try part.offset(in: current)
        if let length = change.context.request.body.declaredLength {
            try part.check(contentLength: length)
            try checkLength(of: length, at: offset, in: current)
        }
    }

    /// Checks the length that the content will have with the part, and the complete length that the client announced.
    /// - Throws: 413 if either is too long; 416 if the end of the part overflows.
    private func checkLength(of part: Int64, at offset: Int64, in current: Int64) throws(WebDAVError) {
        let (end, isTooLong) = offset.addingReportingOverflow(part)
        if isTooLong { throw .unsatisfiableRange(of: current) }
        try share.receiver.checkLength(max(current, end, self.part.total ?? 0))
    }

    func canReuse(_ prepared: Prepared, from first: ChangeTarget, in change: ChangeTarget) -> Bool {
        change.isInPlace(of: first)
    }

    /// Returns the updated content; the part itself if the resource does not exist yet.
    func content(of prepared: Prepared) -> PreparedContent? {
        prepared.update.map { .staged($0.content) } ?? prepared.part
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> Prepared {
        let received = try await put.prepare(change)
        try part.check(contentLength: received.length)
        guard change.target.info != nil else { return Prepared(part: received) }
        let (method, location) = (self, change.target.location)
        let update = { @Sendable () throws(WebDAVError) in try method.update(received, at: location) }
        return isLong(change)
            ? try await share.work.runLong(for: change.context.client, .begins, update)
            : try await share.work.run(update)
    }

    /// Whether the content is too long to be copied in one slice.
    private func isLong(_ change: ChangeTarget) -> Bool {
        change.target.info?.length ?? 0 > BlockingWork.sliceBytes
    }

    /// True for long content, because `commit` may have to copy it again.
    func commitsLongWork(on change: ChangeTarget, _ prepared: Prepared) -> Bool { isLong(change) }

    /// Builds the new content from the current content and the received part.
    private func update(
        _ received: PreparedContent, at location: ResourceLocation
    ) throws(WebDAVError) -> Prepared {
        let resources = share.resources
        let (content, base) = try storing { () throws(StoreError) in try resources.stageUpdate(of: location) }
        let offset = try part.offset(in: base.length)
        try checkLength(of: received.length, at: offset, in: base.length)
        try storing { () throws(StoreError) in
            switch received {
            case .buffered(let buffer): try content.write(buffer, at: offset)
            case .staged(let staged): try content.write(contentOf: staged, at: offset)
            }
        }
        return Prepared(part: received, update: (content, base.entityTag))
    }

    func commit(
        _ change: ChangeTarget, _ prepared: Prepared, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        guard let old = change.target.info else {
            return try put.commit(change, prepared.part, guard: check)
        }
        var update = prepared.update
        if update?.base != old.entityTag {
            // The hook allowed the change for different content.
            if share.hooksCanRefuse { throw .busy }
            update = try self.update(prepared.part, at: change.target.location).update
        }
        guard let update else { throw WebDAVError(.conflict) }
        return try put.commit(change, .staged(update.content), guard: check)
    }
}

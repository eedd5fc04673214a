internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// PUT (RFC 9110 §9.3.4, RFC 4918 §9.7): atomically creates the target or replaces its content.
///
/// ``PatchMethod`` handles PUT with `Content-Range`, whose body is only a part of the content.
struct PutMethod: ChangeMethod {
    typealias Prepared = PreparedContent

    struct Outcome: Sendable {
        var info: ResourceInfo
        var isNew: Bool
        /// The trash entry of the replaced content, if any.
        var kept: TrashEntry?
        /// Whether the request contained metadata that needs rows, and they were stored.
        var keepsRows = false
    }

    /// The number of bytes to receive before a file is created: enough for most documents, which are then written in one
    /// job.
    private static let smallBytes = Int(shortBytes)

    let share: Share
    let upload: UploadFields

    /// - Parameters:
    ///   - isPart: Whether the body is only a part of the content.
    ///   - digests: Digests to verify, in addition to those in the request.
    init(
        share: Share, request: HTTPRequest, isPart: Bool = false, digests: [ContentDigest] = []
    ) throws(WebDAVError) {
        self.share = share
        var upload = try UploadFields(request, isPart: isPart)
        if !digests.isEmpty { upload.digests += digests }
        self.upload = upload
    }

    /// False, because a PUT to an existing name would stage a file unnecessarily.
    var expectsFreeNames: Bool { false }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        [.writing(change.target)]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try change.target.checkCreatable()
        if change.target.info?.isCollection == true {
            throw share.methodNotAllowed(AllowedMethods.collection, at: change.target, change.context)
        }
        if change.context.endsInSlash { throw WebDAVError(.conflict) }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        let path = change.target.path
        return change.target.info == nil ? [.write(path), .member(path)] : [.write(path)]
    }

    var auditedOperation: AuditEvent.Operation? { .upload }
    func describe(_ outcome: Outcome, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        event.bytes = outcome.info.length
        event.trashID = outcome.kept?.id
        // The digests of a part are not those of the content.
        if !upload.isPart { event.digest = upload.digests.first }
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .upload }

    func content(of prepared: Prepared) -> PreparedContent? { prepared }

    func canCommitInline(_ prepared: Prepared) -> Bool {
        if case .buffered = prepared { return !upload.needsRows }
        return false
    }

    func commitsInline(on change: ChangeTarget) -> Bool {
        share.trash.commitsInline(replacing: change.target)
    }

    /// Staged content can only be published at the path for which it was staged, in any spelling, because it is on
    /// the volume of that path's folder. Buffered content can be published anywhere.
    func canReuse(_ prepared: Prepared, from first: ChangeTarget, in change: ChangeTarget) -> Bool {
        canReuse(prepared, at: first.target.path, in: change.target.path)
    }

    func canReuse(_ prepared: Prepared, at first: ResourcePath, in path: ResourcePath) -> Bool {
        if case .staged = prepared { return path.isRespelling(of: first) }
        return true
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> Prepared {
        let body = change.context.request.body
        let expected = body.declaredLength
        let announced = expected ?? upload.expectedLength
        try share.receiver.checkLength(announced ?? 0)
        let check = upload.digests.isEmpty ? nil : DigestCheck(upload.digests)
        let (share, resources, path) = (share, share.resources, change.target.path)
        let staged: any StagedContent
        if let announced, announced > Self.smallBytes {
            // Check the free space before the first byte is read, so that a client that waits for 100 Continue
            // learns immediately if there is not enough.
            staged = try await share.work.run { () throws(WebDAVError) in
                try storing { () throws(StoreError) in
                    try share.space.announcing(announced, at: path) { (length) throws(StoreError) in
                        try resources.stageContent(for: path, expectedLength: length)
                    }
                }
            }
        } else {
            let small = IOBuffer(capacity: Int(min(expected ?? .max, Int64(Self.smallBytes))))
            let isComplete = try await ContentReceiver.fill(small, from: body, expected: expected)
            try share.receiver.checkLength(Int64(small.count))
            check?.update(small)
            if isComplete {
                try Self.verify(check)
                return .buffered(small)
            }
            staged = try await share.work.run { () throws(WebDAVError) in
                try storing { () throws(StoreError) in
                    let staged = try share.space.announcing(expected, at: path) {
                        (length) throws(StoreError) in
                        try resources.stageContent(for: path, expectedLength: length)
                    }
                    try share.space.reserving(for: Int64(small.count), at: path) { () throws(StoreError) in
                        try staged.write(small)
                    }
                    return staged
                }
            }
        }
        try await share.receiver.receive(body, at: path, expected: expected) {
            (buffer, wait) throws(WebDAVError) in
            try share.receiver.checkLength(staged.length + Int64(buffer.count))
            // Hashing takes about as long as a disk write, so do not run it on the event loop.
            if check != nil, wait == .never { throw WebDAVError(store: .wouldBlock) }
            try storing { () throws(StoreError) in try staged.write(buffer, wait: wait) }
            check?.update(buffer)
        }
        try Self.verify(check)
        if staged.needsSync, staged.length > BlockingWork.sliceBytes || share.hasSessions {
            // Now, to keep the commit short: it is under path locks, or a transaction of a database.
            try await share.work.runLong(for: change.context.client, .continues) {
                () throws(WebDAVError) in try storing { () throws(StoreError) in try staged.sync() }
            }
        }
        return .staged(staged)
    }

    func prepareWithoutWaiting(_ request: HTTPRequest) throws(WebDAVError) -> Prepared? {
        guard !upload.needsRows, request.body.declaredLength.map({ $0 <= Self.smallBytes }) ?? false,
            let small = request.body.copyArrived()
        else { return nil }
        try share.receiver.checkLength(Int64(small.count))
        if !upload.digests.isEmpty, let check = DigestCheck(upload.digests) {
            check.update(small)
            try Self.verify(check)
        }
        return .buffered(small)
    }

    /// Checks that the received content matches its digests.
    /// - Throws: 400 with `digest-mismatch`.
    private static func verify(_ check: DigestCheck?) throws(WebDAVError) {
        if let check, !check.isRight() { throw WebDAVError(.badRequest, .digestMismatch) }
    }

    func commit(
        _ change: ChangeTarget, _ prepared: Prepared, guard check: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        let (path, old) = (change.target.path, change.target.info)
        return try storing { () throws(StoreError) in
            let staged: any StagedContent
            switch prepared {
            case .staged(let content):
                // The folder may have been moved while the content was received.
                content.location = change.target.location
                staged = content
            case .buffered(let buffer):
                let count = Int64(buffer.count)
                staged = try share.space.reserving(for: count, at: path, wait: check.wait) {
                    () throws(StoreError) in
                    let staged = try share.resources.stageContent(
                        for: change.target.location, expectedLength: count, replaces: old != nil)
                    try staged.write(buffer)
                    return staged
                }
            }
            let new = try staged.seal(replacing: old, modified: upload.modified)
            let language =
                upload.isPart ? nil : try share.languages.change(to: upload.language, at: path, of: old)
            let rows = try recordMetadata(of: new, in: staged, wait: check.wait)
            let kept = try share.publisher.publish(
                staged, at: change.target, over: old, as: new, language: language, change.context)
            // Afterwards, so that they never describe the old content. A crash in between loses only them.
            let keepsRows = !rows.isEmpty && share.rows.keep(rows, at: path, of: new)
            return Outcome(info: new, isNew: old == nil, kept: kept, keepsRows: keepsRows)
        }
    }

    /// Stores the digests with the staged content, if the store can.
    /// - Returns: the metadata that is left for rows.
    /// - Throws: `wouldBlock` if rows are needed and the operation must not wait.
    private func recordMetadata(
        of new: ResourceInfo, in staged: any StagedContent, wait: Wait
    ) throws(StoreError) -> [StoredProperty] {
        guard upload.needsRows || !upload.digests.isEmpty else { return [] }
        var rows: [StoredProperty] = []
        let verified = verifiedDigests
        if !verified.isEmpty, !staged.record(verified, of: new) {
            if wait == .never { throw .wouldBlock }
            rows.append(StoredProperty(verified, of: new.entityTag))
        }
        if let created = upload.created { rows.append(StoredProperty(created: created)) }
        return rows
    }

    /// The digests in the request that were verified, without duplicates; none for a part, whose digests are not those of the
    /// content.
    private var verifiedDigests: [ContentDigest] {
        var verified: [ContentDigest] = []
        for digest in upload.digests where !upload.isPart && !verified.contains(digest) {
            if RunningDigest.isAvailable(digest.algorithm) { verified.append(digest) }
        }
        return verified
    }

    func finish(_ outcome: Outcome, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        var response = response(to: outcome)
        await share.trashMaintenance.finish(kept: outcome.kept, &response, for: change.context)
        return response
    }

    func response(to outcome: Outcome, on change: ChangeTarget) -> HTTPResponse? { response(to: outcome) }

    private func response(to outcome: Outcome) -> HTTPResponse {
        var response = HTTPResponse(status: outcome.isNew ? .created : .noContent)
        response.fields.append(.etag) { outcome.info.appendEncodedEntityTag(to: &$0) }
        response.fields.append(.lastModified, outcome.info.modified)
        // The file system may have stored another time if this one is out of range. FAT stores only even seconds, so
        // accept a deviation of one second.
        if let modified = upload.modified, abs(outcome.info.modified.seconds - modified.seconds) <= 1 {
            response.fields.append(.xOCMTime, "accepted")
        }
        if upload.created != nil, outcome.keepsRows { response.fields.append(.xOCCTime, "accepted") }
        return response
    }
}

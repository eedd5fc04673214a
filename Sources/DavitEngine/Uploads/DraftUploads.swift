internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop versions 3 to 8, based on
/// ``UploadEngine``.
struct DraftUploads: Sendable {
    let engine: UploadEngine
    private var share: Share { engine.share }

    init(share: Share) { engine = UploadEngine(share: share) }

    // MARK: Creation (§4.2)

    /// Content up to this declared length is stored directly: managing an upload would cost more than sending
    /// it again.
    private static let plainBytes: Int64 = 64 << 10

    /// Responds to a PUT that contains the fields of the draft.
    /// - Returns: nil if the request must be processed as a plain PUT.
    func put(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse? {
        let fields = DraftFields(context.request)
        guard let isComplete = fields.isComplete else { return nil }
        try checkLength(fields, context.request.body)
        if isComplete, !isWorthwhile(fields, context.request) { return nil }
        return try await create(at: [context.path], fields, isComplete, [], context)
    }

    /// Responds to a POST that adds a member and contains the fields of the draft.
    /// - Returns: nil if the request must be processed as a plain POST.
    func addMember(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse? {
        let fields = DraftFields(context.request)
        guard let isComplete = fields.isComplete else { return nil }
        try checkLength(fields, context.request.body)
        if isComplete, !isWorthwhile(fields, context.request) { return nil }
        let targets = MemberNames(for: context.request).names.compactMap(context.path.appending)
        return try await create(at: targets, fields, isComplete, .choosesName, context)
    }

    /// Whether an upload that is sent in one request should be resumable: without an interim response, the
    /// client would not learn its URL.
    private func isWorthwhile(_ fields: DraftFields, _ request: HTTPRequest) -> Bool {
        guard fields.wantsInterim, request.minorVersion > 0 else { return false }
        return request.body.declaredLength ?? .max > Self.plainBytes
    }

    /// Checks that the lengths in Upload-Length and Content-Length are consistent (§4.1.3).
    private func checkLength(_ fields: DraftFields, _ body: any RequestBody) throws(WebDAVError) {
        guard let length = fields.length, let declared = body.declaredLength else { return }
        if fields.isComplete == true ? length != declared : length < declared {
            throw WebDAVError(.inconsistentLength)
        }
    }

    private func create(
        at targets: [ResourcePath], _ fields: DraftFields, _ isComplete: Bool,
        _ options: UploadRecord.Options, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        var piece = UploadChunk(isLast: isComplete)
        // Set only the digests of this piece; the digests of the complete content are stored with the upload.
        if !isComplete { piece.setDigests(try UploadFields(request, isPart: true).digests) }
        var terms = UploadParameters(request, isWhole: isComplete)
        terms.length = fields.length ?? (isComplete ? request.body.declaredLength : nil)
        terms.options = options
        let session: UploadEngine.Session
        do throws(WebDAVError) { session = try await engine.create(at: targets, terms, context) } catch {
            throw withLimit(error)
        }
        let location = context.href(ofUpload: session.record.id)
        if fields.wantsInterim {
            var interim = HTTPFields()
            fields.appendVersion(to: &interim)
            interim.append(.location, location)
            appendLimit(session.record, context, to: &interim)
            do throws(HTTPError) {
                try await request.body.sendInterim(.uploadResumptionSupported, interim)
            } catch {
                _ = try? await engine.end(session)
                throw WebDAVError(connection: error)
            }
        }
        var response: HTTPResponse
        do throws(WebDAVError) { response = try await append(piece, session, fields, context) } catch {
            if !fields.wantsInterim { await engine.giveUp(session.record) }
            throw error
        }
        if !isComplete {
            response.status = .created
            response.fields.append(.location, location)
            response.fields.append(.cacheControl, "no-store")
        } else if options.contains(.choosesName), let made = response.fields.first(.contentLocation) {
            response.fields.append(.location, made)
        }
        return response
    }

    private func append(
        _ piece: UploadChunk, _ session: UploadEngine.Session, _ fields: DraftFields,
        _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let outcome: UploadEngine.Outcome
        do throws(WebDAVError) { outcome = try await engine.append(piece, to: session, context) } catch {
            throw withLimit(error)
        }
        var response = outcome.response ?? HTTPResponse(status: fields.appended)
        fields.append(isComplete: outcome.response != nil, to: &response.fields)
        response.fields.append(.uploadOffset, outcome.offset)
        if outcome.response == nil { appendLimit(outcome.record, context, to: &response.fields) }
        return response
    }

    // MARK: Upload resource

    /// HEAD: the progress of the upload (§4.3). A concurrent append is considered abandoned and loses its
    /// turn (§4.6).
    func head(_ record: UploadRecord, _ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let fields = DraftFields(context.request)
        var (record, offset) = (record, record.progress.offset)
        if !record.progress.isComplete {
            let session = try await engine.begin(record, nil)
            record = session.record
            offset = try await engine.end(session)
        }
        var response = HTTPResponse(status: .noContent)
        fields.append(isComplete: record.progress.isComplete, to: &response.fields)
        response.fields.append(.uploadOffset, offset)
        if let length = record.progress.length { response.fields.append(.uploadLength, length) }
        appendLimit(record, context, to: &response.fields)
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    /// PATCH: appends to the upload, or completes it (§4.4).
    func patch(_ record: UploadRecord, _ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        let fields = DraftFields(request)
        if fields.needsMediaType, request.contentType?.essence != UploadResource.partialType.description {
            var error = WebDAVError(.unsupportedMediaType)
            error.fields.append(named: "Accept-Patch", UploadResource.acceptPatch)
            throw error
        }
        guard let provided = fields.offset,
            let isComplete = fields.isComplete ?? (fields.version == 3 ? true : nil)
        else { throw WebDAVError(.badRequest) }
        if record.progress.isComplete {
            throw request.body.isPresent ? WebDAVError(.inconsistentLength) : WebDAVError(.completed, .gone)
        }
        var piece = UploadChunk(isLast: isComplete)
        piece.setDigests(try UploadFields(request, isPart: true).digests)
        piece.wholeDigests = try UploadFields.wholeDigests(request)
        var session = try await engine.begin(record, request.body)
        do throws(WebDAVError) {
            guard session.offset == provided else {
                throw WebDAVError(.mismatchingOffset(expected: session.offset, provided: provided))
            }
            try recordLength(fields, isComplete, request.body, &session)
        } catch {
            _ = try? await engine.end(session)
            throw withLimit(error)
        }
        return try await append(piece, session, fields, context)
    }

    /// Records the length specified by this request, if it is consistent with earlier ones (§4.1.3).
    private func recordLength(
        _ fields: DraftFields, _ isComplete: Bool, _ body: any RequestBody,
        _ session: inout UploadEngine.Session
    ) throws(WebDAVError) {
        let end = body.declaredLength.map { session.offset + $0 }
        let known = [session.record.progress.length, fields.length, isComplete ? end : nil].compactMap { $0 }
        if let length = known.first {
            guard known.allSatisfy({ $0 == length }), end ?? session.offset <= length else {
                throw WebDAVError(.inconsistentLength)
            }
            try share.receiver.checkLength(length)
        }
        session.record.progress.length = known.first
    }

    // MARK: Limits (§4.1.4)

    /// Returns the limits that apply to every upload.
    static func limits(of share: Share) -> String {
        var limit = "max-age=\(share.configuration.uploadSeconds)"
        if let maximum = share.configuration.maximumFileBytes { limit += ", max-size=\(maximum)" }
        return limit
    }

    private func appendLimit(_ record: UploadRecord, _ context: RequestContext, to fields: inout HTTPFields) {
        let left = max(0, record.progress.expiry.seconds - context.now.seconds)
        var limit = "max-age=\(left)"
        if let maximum = share.configuration.maximumFileBytes { limit += ", max-size=\(maximum)" }
        fields.append(named: UploadResource.limitField, limit)
    }

    /// Adds the limits to a 413 error.
    private func withLimit(_ error: WebDAVError) -> WebDAVError {
        guard error.status == .contentTooLarge else { return error }
        var error = error
        error.fields.append(named: UploadResource.limitField, Self.limits(of: share))
        return error
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// tus 1.0 (https://tus.io/protocols/resumable-upload), based on ``UploadEngine``: the core protocol and the
/// extensions listed in ``appendOptions(of:to:)``.
struct TusUploads: Sendable {
    let engine: UploadEngine
    private var share: Share { engine.share }

    init(share: Share) { engine = UploadEngine(share: share) }

    // MARK: Core

    static let version: StaticString = "1.0.0"

    /// Returns the effective method of a request; clients limited to GET and POST can override it.
    static func method(of request: HTTPRequest) -> HTTPMethod {
        guard request.method == .post, let name = request.string(named: "X-HTTP-Method-Override") else {
            return request.method
        }
        return HTTPMethod(parsing: Array(name.utf8).span)
    }

    /// - Throws: 412 for any other version.
    static func checkVersion(_ request: HTTPRequest) throws(WebDAVError) {
        if request.string(of: .tusResumable) == version.description { return }
        var error = WebDAVError(.preconditionFailed)
        error.fields.append(named: "Tus-Version", version.description)
        throw error
    }

    static func appendVersion(to fields: inout HTTPFields) { fields.append(.tusResumable, version) }

    /// Adds `Tus-Resumable`, which every tus response must contain, to an error.
    static func answer(_ error: WebDAVError) -> WebDAVError {
        var error = error
        if error.connectionError == nil { appendVersion(to: &error.fields) }
        return error
    }

    static func appendOptions(of share: Share, to fields: inout HTTPFields) {
        appendVersion(to: &fields)
        fields.append(named: "Tus-Version", version.description)
        fields.append(
            named: "Tus-Extension",
            "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation"
        )
        fields.append(
            named: "Tus-Checksum-Algorithm", TusFields.algorithms.map(\.name).joined(separator: ","))
        if let maximum = share.configuration.maximumFileBytes {
            fields.append(named: "Tus-Max-Size", String(maximum))
        }
    }

    func head(_ record: UploadRecord, _ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        var (record, offset) = (record, record.progress.offset)
        if !record.progress.isComplete {
            (record, offset) = try await lookUp(at: record, context)
        }
        var response = HTTPResponse(status: .ok)
        Self.appendVersion(to: &response.fields)
        response.fields.append(.cacheControl, "no-store")
        // A concatenated upload has an offset only after it has been created completely.
        if !record.options.contains(.isConcatenation) || record.progress.isComplete {
            response.fields.append(.uploadOffset, offset)
        }
        if let length = record.progress.length {
            response.fields.append(.uploadLength, length)
        } else {
            response.fields.append(named: "Upload-Defer-Length", "1")
        }
        let created = try UploadRecord.head(record.fieldLines, for: context.request)
        for name in [TusFields.metadataField, TusConcatenation.field] {
            if let value = created.string(named: name) { response.fields.append(named: name, value) }
        }
        appendExpiry(record, to: &response.fields)
        return response
    }

    /// Returns the progress of an upload. A client considers an upload complete once all bytes are stored and
    /// sends nothing more. If a crash or an error prevented the completion, it is retried now.
    /// - Throws: any error of the repeated completion.
    private func lookUp(
        at record: UploadRecord, _ context: RequestContext
    ) async throws(WebDAVError) -> (UploadRecord, Int64) {
        let session = try await engine.begin(record, nil)
        guard session.offset == session.record.progress.length, !share.configuration.isReadOnly else {
            return (session.record, try await engine.end(session))
        }
        let outcome = try await engine.finish(session, context)
        return (outcome.record, outcome.offset)
    }

    func patch(_ record: UploadRecord, _ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        guard request.contentType?.essence == UploadResource.offsetType.description else {
            throw WebDAVError(.unsupportedMediaType)
        }
        // A concatenated upload does not accept more bytes.
        if record.options.contains(.isConcatenation) { throw WebDAVError(.forbidden) }
        let fields = try TusFields(request)
        guard let provided = fields.offset else { throw WebDAVError(.badRequest) }
        let (digests, whole) = try (TusFields.checksum(request), UploadFields.wholeDigests(request))
        if record.progress.isComplete { return try repeated(record, provided, request) }
        var session = try await engine.begin(record, request.body)
        do throws(WebDAVError) {
            guard session.offset == provided else {
                throw WebDAVError(.mismatchingOffset(expected: session.offset, provided: provided))
            }
            if let length = fields.length {
                guard session.record.progress.length ?? length == length, length >= provided else {
                    throw WebDAVError(.inconsistentLength)
                }
                try share.receiver.checkLength(length)
                session.record.progress.length = length
            }
            if let length = session.record.progress.length, let more = request.body.declaredLength,
                provided + more > length
            {
                throw WebDAVError(.contentTooLarge)
            }
        } catch {
            _ = try? await engine.end(session)
            throw error
        }
        let outcome = try await append(digests, whole, to: session, context)
        var response = HTTPResponse(status: .noContent)
        finish(outcome, &response)
        return response
    }

    /// Responds to a PATCH that the client repeats without content, because the response to the last one was
    /// lost.
    private func repeated(
        _ record: UploadRecord, _ provided: Int64, _ request: HTTPRequest
    ) throws(WebDAVError) -> HTTPResponse {
        let offset = record.progress.offset
        guard provided == offset else {
            throw WebDAVError(.mismatchingOffset(expected: offset, provided: provided))
        }
        if request.body.isPresent { throw WebDAVError(.contentTooLarge) }
        var response = HTTPResponse(status: .noContent)
        finish(UploadEngine.Outcome(record: record, offset: offset), &response)
        return response
    }

    /// Appends, and completes the upload if all bytes are stored: tus has no separate completion request.
    private func append(
        _ digests: [ContentDigest], _ whole: [ContentDigest] = [], to session: UploadEngine.Session,
        _ context: RequestContext
    ) async throws(WebDAVError) -> UploadEngine.Outcome {
        let (length, more) = (session.record.progress.length, context.request.body.declaredLength)
        let piece = UploadChunk(
            digests: digests, wholeDigests: whole, mismatch: WebDAVError(HTTPStatus(460)),
            isLast: length != nil && length == more.map { session.offset + $0 },
            overflow: WebDAVError(.contentTooLarge))
        let outcome = try await engine.append(piece, to: session, context)
        // If the request did not declare the length of its content, it is only known now whether the upload is
        // complete.
        guard !piece.isLast, outcome.offset == outcome.record.progress.length else { return outcome }
        let last = try await engine.begin(outcome.record, nil)
        return try await engine.finish(last, context, digests: whole)
    }

    private func finish(_ outcome: UploadEngine.Outcome, _ response: inout HTTPResponse) {
        Self.appendVersion(to: &response.fields)
        response.fields.append(.uploadOffset, outcome.offset)
        if let made = outcome.response { response.fields.appendMissing(made.fields) }
        if !outcome.record.progress.isComplete { appendExpiry(outcome.record, to: &response.fields) }
    }

    private func appendExpiry(_ record: UploadRecord, to fields: inout HTTPFields) {
        fields.append(
            named: "Upload-Expires", String(decoding: HTTPDate.imf(record.progress.expiry), as: UTF8.self))
    }

    // MARK: Creation

    /// POST to the collection in which the new member is created.
    func create(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        do throws(WebDAVError) {
            try Self.checkVersion(context.request)
            let concatenation = try await TusConcatenation(context, engine)
            switch concatenation {
            case .none, .partial: return try await create(concatenation, context)
            case .final(let parts): return try await concatenate(parts, context)
            }
        } catch {
            throw Self.answer(error)
        }
    }

    private func create(
        _ concatenation: TusConcatenation, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        let fields = try TusFields(request)
        // Either Upload-Length or Upload-Defer-Length must be present, but not both.
        guard (fields.length == nil) == fields.defersLength else { throw WebDAVError(.badRequest) }
        let hasContent = request.contentType?.essence == UploadResource.offsetType.description
        if request.body.isPresent, !hasContent { throw WebDAVError(.unsupportedMediaType) }
        let digests = try TusFields.checksum(request)
        if let length = fields.length, request.body.declaredLength ?? 0 > length {
            throw WebDAVError(.contentTooLarge)
        }
        var terms = try terms(fields, concatenation, request)
        terms.length = fields.length
        let session = try await engine.create(at: targets(fields, context), terms, context)
        do throws(WebDAVError) {
            return created(try await append(digests, to: session, context), context)
        } catch {
            await engine.giveUp(session.record)
            throw error
        }
    }

    private func created(_ outcome: UploadEngine.Outcome, _ context: RequestContext) -> HTTPResponse {
        var response = HTTPResponse(status: .created)
        response.fields.append(.location, context.href(ofUpload: outcome.record.id))
        finish(outcome, &response)
        if !response.fields.contains(.contentLocation), let target = outcome.record.target,
            !outcome.record.options.contains(.isPart)
        {
            response.fields.append(.contentLocation, context.href(of: target))
        }
        return response
    }

    /// Returns the parameters of an upload. If the name is in use, a number is appended to it, unless the
    /// client specifies how to handle the existing resource: `If-None-Match: *` refuses the upload;
    /// `If-Match` and `Overwrite: T` replace the resource.
    private func terms(
        _ fields: TusFields, _ concatenation: TusConcatenation, _ request: HTTPRequest
    ) throws(WebDAVError) -> UploadParameters {
        var more = HTTPFields()
        if let modified = fields.metadata.modified, !request.contains(.xOCMTime) {
            more.append(.xOCMTime, modified)
        }
        for name in [TusFields.metadataField, TusConcatenation.field] {
            if let value = request.string(named: name) { more.append(named: name, value) }
        }
        var terms = UploadParameters(request, adding: more)
        let overwrites = try request.value(of: .overwrite) { Overwrite.parse($0) }
        let speaksOfTarget = request.contains(.ifMatch) || request.contains(.ifNoneMatch)
        if overwrites != .allowed, !speaksOfTarget { terms.options.insert(.choosesName) }
        if case .partial = concatenation { terms.options.insert(.isPart) }
        return terms
    }

    private func targets(_ fields: TusFields, _ context: RequestContext) throws(WebDAVError) -> [ResourcePath]
    {
        // Refuse an invalid name: appending a number would not make it valid.
        if let name = fields.metadata.name, context.path.appending(name) == nil {
            throw WebDAVError(.badRequest)
        }
        let names = MemberNames(fields.metadata.name, type: fields.metadata.type).names
        return names.compactMap(context.path.appending)
    }

    // MARK: Concatenation

    /// Creates an upload from complete parts, completes it, and removes the parts.
    private func concatenate(
        _ parts: [UploadRecord], _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        if context.request.body.isPresent || context.request.contains(.uploadLength) {
            throw WebDAVError(.badRequest)
        }
        let fields = try TusFields(context.request)
        var terms = try terms(fields, .none, context.request)
        terms.options.insert(.isConcatenation)
        terms.length = parts.reduce(0) { $0 + $1.progress.offset }
        let session = try await engine.create(at: targets(fields, context), terms, context)
        let outcome: UploadEngine.Outcome
        do throws(WebDAVError) { outcome = try await engine.fill(session, with: parts, context) } catch {
            await engine.giveUp(session.record)
            throw error
        }
        for part in parts { try? await engine.cancel(part) }
        return created(outcome, context)
    }
}

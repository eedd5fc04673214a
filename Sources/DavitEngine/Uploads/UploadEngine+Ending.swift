internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// How an upload becomes the content of its target.
extension UploadEngine {
    /// Completes an upload of which nothing is missing. Ends the turn.
    /// - Parameter digests: what the content has to be, besides what was said when the upload was created.
    func finish(
        _ session: Session, _ context: RequestContext, digests: [ContentDigest] = []
    ) async throws(WebDAVError) -> Outcome {
        var session = session
        do throws(WebDAVError) { return try await complete(&session, digests, context) } catch {
            _ = try? await end(session)
            throw error
        }
    }

    /// Completes an upload with the bytes of others, one after the other. Ends the turn.
    func fill(
        _ session: Session, with parts: [UploadRecord], _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        let engine = self
        guard let target = session.record.target else { throw WebDAVError(.notFound) }
        // As at the end: nobody else writes meanwhile, and the copy holds no lock.
        let ending = try await share.offload { () throws(WebDAVError) in
            try session.upload.beginEnd(session.turn)
        }
        do throws(WebDAVError) {
            try await share.offloadLong(for: context.request.client) { () throws(WebDAVError) in
                for part in parts where part.progress.offset > 0 {
                    let source = try engine.open(part)
                    try engine.share.makingRoom(for: source.length, at: target) { () throws(WebDAVError) in
                        try storing { () throws(StoreError) in
                            try ending.content.write(contentOf: source, at: ending.content.length)
                        }
                    }
                }
            }
        } catch {
            session.upload.giveUpEnd(session.turn)
            throw error
        }
        session.upload.giveUpEnd(session.turn)
        return try await finish(session, context)
    }

    /// Carries out the PUT that the upload stands for. Ends the turn if that succeeds.
    ///
    /// What is refused stays, so that the client can try again once the reason is gone. Only content that is not what
    /// its digest says goes: it would never become right.
    func complete(
        _ session: inout Session, _ digests: [ContentDigest], _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        let (upload, turn) = (session.upload, session.turn)
        let ending = try await share.offload { () throws(WebDAVError) in try upload.beginEnd(turn) }
        do throws(WebDAVError) { return try await complete(&session, ending, digests, context) } catch {
            upload.giveUpEnd(turn)
            throw error
        }
    }

    private func complete(
        _ session: inout Session, _ ending: OpenUpload.Ending, _ digests: [ContentDigest],
        _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        let content = ending.content
        if let length = session.record.progress.length, length != content.length {
            throw WebDAVError(.inconsistentLength)
        }
        session.record.progress.length = content.length
        // The collection may have been moved meanwhile.
        guard let current = share.state.upload(session.record.id) else { throw WebDAVError(.notFound) }
        let request = try UploadRecord.head(current.fieldLines, for: context.request)
        let put = try PutMethod(share: share, request: request, digests: digests)
        let claims = put.upload.digests
        if !claims.isEmpty {
            let compare = { @Sendable () throws(WebDAVError) in try ending.isRight(claims) }
            let isRight =
                content.length > Share.sliceBytes
                ? try await share.offloadLong(for: context.request.client, .begins, compare)
                : try await share.offload(compare)
            guard isRight else {
                try await remove(session)
                throw WebDAVError(.badRequest, .digestMismatch)
            }
        }
        if session.record.options.contains(.isPart) { return try await keepPart(session, content.length) }
        let wanted = DigestWish(request).representation.first.flatMap(ending.digest)
        var response = try await publish(content, of: current, put, context)
        if let wanted { response.fields.append(.reprDigest, DigestField.encode(wanted)) }
        var progress = session.record.progress
        progress.offset = content.length
        progress.isUnverified = false
        progress.isComplete = true
        progress.expiry = context.now.adding(
            seconds: min(share.configuration.uploadSeconds, Self.rememberedSeconds))
        session.record.progress = progress
        let (engine, ended) = (self, session)
        // The content has its name: whatever happens to the row, the client has to hear that.
        _ = await share.work.run {
            engine.leave(ended)
            engine.share.uploads.forget(ended.record.id)
            try? engine.commit([.setUploadProgress(id: ended.record.id, ended.record.progress)])
        }
        return Outcome(record: session.record, offset: content.length, response: response)
    }

    /// For so long the URL of an upload that is complete says so: to clients that have not got the answer.
    static let rememberedSeconds: Int64 = 86_400

    private func publish(
        _ content: any UploadContent, of record: UploadRecord, _ put: PutMethod, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let choosesName = record.options.contains(.choosesName)
        let names = choosesName ? MemberNames(record.name).names : [record.name]
        for name in names {
            guard let target = record.collection.appending(name), !share.hides(target) else { continue }
            do throws(WebDAVError) {
                let method = CompleteUploadMethod(
                    share: share, put: put, content: content, needsFreeName: choosesName)
                var response = try await share.change(
                    method, context: record.request(for: context, at: target))
                response.fields.append(.contentLocation, context.href(of: target))
                return response
            } catch {
                guard error.isOvertaken, choosesName else {
                    var error = error
                    // All of it has come (draft §4.4.2).
                    error.fields.append(.uploadComplete, "?1")
                    throw error
                }
            }
        }
        throw .busy
    }

    /// All of a part has come; what it is a part of, comes later.
    private func keepPart(_ session: Session, _ length: Int64) async throws(WebDAVError) -> Outcome {
        var record = session.record
        // It gets no name yet.
        session.upload.giveUpEnd(session.turn)
        _ = try await end(session)
        record.progress.offset = length
        record.progress.isComplete = true
        try await commitWithoutBlocking([.setUploadProgress(id: record.id, record.progress)])
        return Outcome(record: record, offset: length)
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Completes uploads.
extension UploadEngine {
    /// Completes an upload that has all of its bytes. Ends the turn.
    /// - Parameter digests: Digests to verify, in addition to those sent when the upload was created.
    func finish(
        _ session: Session, _ context: RequestContext, digests: [ContentDigest] = []
    ) async throws(WebDAVError) -> Outcome {
        var session = session
        do throws(WebDAVError) { return try await complete(&session, digests, context) } catch {
            _ = try? await end(session)
            throw error
        }
    }

    /// Completes an upload with the concatenated bytes of other uploads. Ends the turn, unless copying fails.
    func fill(
        _ session: Session, with parts: [UploadRecord], _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        let engine = self
        guard let target = session.record.target else { throw WebDAVError(.notFound) }
        // Begin the completion, so that no other request can write, and copy without holding the mutex.
        let ending = try await share.work.run { () throws(WebDAVError) in
            try session.upload.beginEnd(session.turn)
        }
        do throws(WebDAVError) {
            try await share.work.runLong(for: context.client) { () throws(WebDAVError) in
                for part in parts where part.progress.offset > 0 {
                    let source = try engine.open(part)
                    try engine.share.space.reserving(for: source.length, at: target) {
                        () throws(WebDAVError) in
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

    /// Performs the PUT that the upload represents. Ends the turn on success.
    ///
    /// An upload whose completion is refused is kept, so that the client can retry when the reason no longer
    /// exists. Only an upload with a wrong digest is removed: it could never succeed.
    func complete(
        _ session: inout Session, _ digests: [ContentDigest], _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        let (upload, turn) = (session.upload, session.turn)
        let ending = try await share.work.run { () throws(WebDAVError) in try upload.beginEnd(turn) }
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
        if share.hasSessions, content.needsSync {
            // Before the transaction that publishes it, which must be short.
            try await share.work.run { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try content.sync() }
            }
        }
        if let length = session.record.progress.length, length != content.length {
            throw WebDAVError(.inconsistentLength)
        }
        session.record.progress.length = content.length
        // The collection may have been moved in the meantime.
        guard let current = try await record(session.record.id) else { throw WebDAVError(.notFound) }
        let request = try UploadRecord.head(current.fieldLines, for: context.request)
        let put = try PutMethod(share: share, request: request, digests: digests)
        let expected = put.upload.digests
        if !expected.isEmpty {
            let compare = { @Sendable () throws(WebDAVError) in try ending.isRight(expected) }
            let isRight =
                content.length > BlockingWork.sliceBytes
                ? try await share.work.runLong(for: context.client, .begins, compare)
                : try await share.work.run(compare)
            guard isRight else {
                try await remove(session)
                throw WebDAVError(.badRequest, .digestMismatch)
            }
        }
        if session.record.options.contains(.isPart) { return try await keepPart(session, content.length) }
        let wanted = WantDigest(request).representation.first.flatMap(ending.digest)
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
        // The content has been published: report success to the client even if the row cannot be updated.
        let isRecorded: Void? = await share.work.cleanUp {
            engine.leave(ended)
            engine.share.uploads.forget(ended.record.id)
            try? engine.commit([.setUploadProgress(id: ended.record.id, ended.record.progress)])
        }
        if isRecorded == nil {
            // Too much work is waiting. Requests for the upload find its file at the target, and then update the row.
            leave(ended)
            share.uploads.forget(ended.record.id)
        }
        return Outcome(record: session.record, offset: content.length, response: response)
    }

    /// Maximum number of seconds for which the URL of a completed upload reports its completion, for clients
    /// that missed the response.
    static let rememberedSeconds: Int64 = 86_400

    private func publish(
        _ content: any UploadContent, of record: UploadRecord, _ put: PutMethod, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        let choosesName = record.options.contains(.choosesName)
        let names = choosesName ? MemberNames(record.name).names : [record.name]
        for name in names {
            guard let target = record.collection.appending(name), !share.urls.isHidden(target) else {
                continue
            }
            do throws(WebDAVError) {
                let method = CompleteUploadMethod(
                    share: share, put: put, content: content, needsFreeName: choosesName)
                var response = try await ChangeCommitter(
                    method, record.request(for: context, at: target)
                ).run()
                response.fields.append(.contentLocation, context.href(of: target))
                return response
            } catch {
                guard error.lostRace, choosesName else {
                    var error = error
                    // The upload has all of its bytes (draft §4.4.2).
                    error.fields.append(.uploadComplete, "?1")
                    throw error
                }
            }
        }
        throw .busy
    }

    /// Marks a part as complete; the upload that contains it is created later.
    private func keepPart(_ session: Session, _ length: Int64) async throws(WebDAVError) -> Outcome {
        var record = session.record
        // A part is not published under a name, so its completion ends here.
        session.upload.giveUpEnd(session.turn)
        _ = try await end(session)
        record.progress.offset = length
        record.progress.isComplete = true
        try await commitWithoutBlocking([.setUploadProgress(id: record.id, record.progress)])
        return Outcome(record: record, offset: length)
    }
}

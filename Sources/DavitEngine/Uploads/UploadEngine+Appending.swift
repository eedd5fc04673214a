internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Receives the content of an upload, request by request.
extension UploadEngine {
    /// Appends the content of a request, and completes the upload if it is the last piece. Ends the turn.
    ///
    /// If the content is interrupted, the received bytes are kept, unless the request contains a digest of
    /// its content.
    /// - Parameter session: The turn; the content of the request begins at its offset.
    func append(
        _ piece: UploadChunk, to session: Session, _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        var session = session
        do throws(WebDAVError) {
            try await receive(piece, into: session, context.request.body)
            if piece.isLast { return try await complete(&session, piece.wholeDigests, context) }
            let offset = try await end(session)
            session.record.progress.offset = offset
            return Outcome(record: session.record, offset: offset)
        } catch {
            // Keep the bytes received before a failure.
            _ = try? await end(session)
            throw error
        }
    }

    private func receive(
        _ piece: UploadChunk, into session: Session, _ body: any RequestBody
    ) async throws(WebDAVError) {
        guard body.isPresent, let target = session.record.target else {
            if let check = DigestCheck(piece.digests), !check.isRight() { throw piece.mismatch }
            return
        }
        let (engine, upload, turn) = (self, session.upload, session.turn)
        let (expected, limit, record) = (body.declaredLength, session.record.progress.length, session.record)
        let (check, likely) = (DigestCheck(piece.digests), piece.likely)
        if let expected { try engine.share.receiver.checkLength(session.offset + expected) }
        // Check the space before the first byte is read, so that a client waiting for 100 Continue learns
        // immediately that there is not enough.
        try await share.work.run { () throws(WebDAVError) in
            try upload.withContent(turn) { (content) throws(WebDAVError) in
                try storing { () throws(StoreError) in
                    try engine.share.space.announcing(expected, at: target) { (length) throws(StoreError) in
                        try content.checkRoom(for: length ?? 0)
                    }
                }
            }
            guard check != nil else { return }
            upload.beginDigests(likely)
            try upload.beginUnverified(turn) { (start) throws(WebDAVError) in
                var progress = record.progress
                progress.offset = start
                progress.isUnverified = true
                try engine.commit([.setUploadProgress(id: record.id, progress)])
            }
        }
        let overflow = piece.overflow
        try await share.receiver.receive(body, at: target, expected: expected, keepsRest: check == nil) {
            (buffer, wait) throws(WebDAVError) in
            if check != nil, wait == .never { throw WebDAVError(store: .wouldBlock) }
            try upload.append(buffer, turn, wait) { (length) throws(WebDAVError) in
                if let limit, length > limit { throw overflow }
                try engine.share.receiver.checkLength(length)
            }
            check?.update(buffer)
        }
        if let check {
            guard check.isRight() else { throw piece.mismatch }
            try upload.keepVerified(turn)
        }
    }

    /// Ends the turn of a request, and stores the progress in the row if it has changed.
    /// - Returns: The number of stored bytes.
    /// - Throws: 409 if another request has taken the turn, 404 if the upload no longer exists.
    @discardableResult
    func end(_ session: Session) async throws(WebDAVError) -> Int64 {
        let engine = self
        return try await share.work.run { () throws(WebDAVError) in
            defer { engine.leave(session) }
            let offset = try session.upload.end(session.turn) { (offset) throws(WebDAVError) in
                try engine.record(offset, of: session.record)
            }
            guard let offset else { throw OpenUpload.superseded }
            return offset
        }
    }

    /// Stores the progress of an upload, if it differs from the progress in the row.
    private func record(_ offset: Int64, of record: UploadRecord) throws(WebDAVError) {
        guard var progress = share.state.upload(record.id)?.progress else { throw WebDAVError(.notFound) }
        if offset == progress.offset, !progress.isUnverified, progress.length == record.progress.length {
            return
        }
        progress.length = record.progress.length
        progress.offset = offset
        progress.isUnverified = false
        progress.expiry = share.now().adding(seconds: share.configuration.uploadSeconds)
        try commit([.setUploadProgress(id: record.id, progress)])
    }
}

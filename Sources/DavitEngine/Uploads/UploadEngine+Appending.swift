internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// What comes of an upload, request by request.
extension UploadEngine {
    /// Appends the content of a request, and completes the upload if that was the last of it. Ends the turn.
    ///
    /// What has come of content that is cut off counts, unless it has a digest of its own.
    /// - Parameter session: at the offset where the content begins.
    func append(
        _ piece: UploadPiece, to session: Session, _ context: RequestContext
    ) async throws(WebDAVError) -> Outcome {
        var session = session
        do throws(WebDAVError) {
            try await receive(piece, into: session, context.request.body)
            if piece.isLast { return try await complete(&session, piece.wholeDigests, context) }
            let offset = try await end(session)
            session.record.progress.offset = offset
            return Outcome(record: session.record, offset: offset)
        } catch {
            // Also of a failure something may have come that is worth keeping.
            _ = try? await end(session)
            throw error
        }
    }

    private func receive(
        _ piece: UploadPiece, into session: Session, _ body: any RequestBody
    ) async throws(WebDAVError) {
        guard body.isPresent, let target = session.record.target else {
            if let check = DigestCheck(piece.digests), !check.isRight() { throw piece.mismatch }
            return
        }
        let (engine, upload, turn) = (self, session.upload, session.turn)
        let (expected, limit, record) = (body.declaredLength, session.record.progress.length, session.record)
        let (check, likely) = (DigestCheck(piece.digests), piece.likely)
        if let expected { try engine.share.checkLength(session.offset + expected) }
        // Before the first byte is read: who waits for 100 Continue hears now that there is no room.
        try await share.offload { () throws(WebDAVError) in
            try upload.withContent(turn) { (content) throws(WebDAVError) in
                try storing { () throws(StoreError) in
                    try engine.share.announcing(expected, at: target) { (length) throws(StoreError) in
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
        try await share.receive(body, at: target, expected: expected, keepsRest: check == nil) {
            (buffer, wait) throws(WebDAVError) in
            if check != nil, wait == .never { throw WebDAVError(store: .wouldBlock) }
            try upload.append(buffer, turn, wait) { (length) throws(WebDAVError) in
                if let limit, length > limit { throw overflow }
                try engine.share.checkLength(length)
            }
            check?.update(buffer)
        }
        if let check {
            guard check.isRight() else { throw piece.mismatch }
            try upload.keepVerified(turn)
        }
    }

    /// Ends the turn of a request, and says so in the row: once for each request.
    /// - Returns: how many bytes there are.
    /// - Throws: 409 if somebody else has taken the turn, 404 if the upload is gone.
    @discardableResult
    func end(_ session: Session) async throws(WebDAVError) -> Int64 {
        let engine = self
        return try await share.offload { () throws(WebDAVError) in
            defer { engine.leave(session) }
            let offset = try session.upload.end(session.turn) { (offset) throws(WebDAVError) in
                try engine.record(offset, of: session.record)
            }
            guard let offset else { throw OpenUpload.superseded }
            return offset
        }
    }

    /// Writes how far an upload is, if the row does not say so.
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

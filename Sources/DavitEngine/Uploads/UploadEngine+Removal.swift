internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Cancels and removes uploads.
extension UploadEngine {
    /// Cancels an upload, regardless of which request has its turn, and removes its bytes.
    func cancel(_ record: UploadRecord) async throws(WebDAVError) {
        if record.progress.isComplete, !record.options.contains(.isPart) {
            return try await commitWithoutBlocking([.removeUpload(id: record.id)])
        }
        try await remove(begin(record, nil))
    }

    /// Removes an upload whose creation fails, because no client will learn its URL.
    func giveUp(_ record: UploadRecord) async {
        // The upload may already have been removed or completed.
        guard let current = try? await self.record(record.id), !current.progress.isComplete else { return }
        try? await cancel(current)
    }

    func remove(_ session: Session) async throws(WebDAVError) {
        let engine = self
        try await share.work.run { () throws(WebDAVError) in try engine.removeContent(session) }
    }

    /// Removes an upload and its bytes. Blocks.
    func removeContent(_ session: Session) throws(WebDAVError) {
        defer { leave(session) }
        try session.upload.withContent(session.turn) { (content) throws(WebDAVError) in
            // Remove the row first: a file without a row is always removed later as a leftover.
            try commit([.removeUpload(id: session.record.id)])
            // Forget the upload only now: while another request could have the turn, all requests must
            // share one object.
            share.uploads.forget(session.record.id)
            try storing { () throws(StoreError) in try content.remove() }
        }
    }

    /// Removes an upload that has expired or whose file is no longer usable. Blocks.
    func drop(_ record: UploadRecord) throws(WebDAVError) {
        share.uploads.forget(record.id)
        try commit([.removeUpload(id: record.id)])
        // The row identifies the file, so there is no need to wait for the mutex of the upload.
        if let target = record.target,
            let content = try? share.resources.upload(
                named: record.stagedName, record.identity, for: ResourceLocation(target)),
            (try? content.remove()) != nil
        {
            return
        }
        // The collection may have been moved to the trash, where uploads cannot be opened.
        if let staged = record.collection.appending(record.stagedName) {
            share.stored.removeLeftover(at: staged)
        }
    }

    /// Removes expired uploads, except those in use. May block.
    package func removeExpired() {
        let (uploads, state, now) = (share.uploads, share.state, share.now)
        uploads.forget { state.upload($0) == nil }
        for record in state.endedUploads(now: now()) where !uploads.isInUse(record.id) {
            // A request that has just ended may have extended the lifetime of the upload.
            guard let record = state.upload(record.id), record.progress.expiry <= now() else { continue }
            do throws(WebDAVError) { try drop(record) } catch {
                share.report("removing an expired upload failed: status \(error.status.code)")
            }
        }
    }
}

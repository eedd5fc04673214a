internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// How an upload ends that becomes nothing.
extension UploadEngine {
    /// Ends an upload, whoever has its turn, and removes what has come of it.
    func cancel(_ record: UploadRecord) async throws(WebDAVError) {
        if record.progress.isComplete, !record.options.contains(.isPart) {
            return try await commitWithoutBlocking([.removeUpload(id: record.id)])
        }
        try await remove(begin(record, nil))
    }

    /// Removes an upload whose creation is answered with an error, so that nobody will ever know where it is.
    func giveUp(_ record: UploadRecord) async {
        // It may be gone already, or be what it was to become.
        guard let current = share.state.upload(record.id), !current.progress.isComplete else { return }
        try? await cancel(current)
    }

    func remove(_ session: Session) async throws(WebDAVError) {
        let (share, engine) = (share, self)
        try await share.offload { () throws(WebDAVError) in
            defer { engine.leave(session) }
            try session.upload.withContent(session.turn) { (content) throws(WebDAVError) in
                // The row first: bytes without one are swept, whatever happens.
                try engine.commit([.removeUpload(id: session.record.id)])
                // Not before: who has the turn now may be somebody else, and there is one object of an upload.
                share.uploads.forget(session.record.id)
                try storing { () throws(StoreError) in try content.remove() }
            }
        }
    }

    /// Forgets an upload whose bytes are nothing any more. Blocks.
    func drop(_ record: UploadRecord) throws(WebDAVError) {
        share.uploads.forget(record.id)
        try commit([.removeUpload(id: record.id)])
        // The row has said which file it is: nobody's lock on it has to be waited for.
        if let target = record.target,
            let content = try? share.resources.upload(
                named: record.stagedName, record.identity, for: Place(target)), (try? content.remove()) != nil
        {
            return
        }
        // Where it is now, if its collection was moved.
        if let staged = record.collection.appending(record.stagedName) {
            share.stored.removeLeftover(at: staged)
        }
    }
}

extension Share {
    /// Removes the uploads whose time is up, but for those that go on just now. May block.
    package func expireUploads() {
        let engine = UploadEngine(share: self)
        uploads.forget { state.upload($0) == nil }
        for record in state.endedUploads(now: now()) where !uploads.isInUse(record.id) {
            // A request that has ended meanwhile has given it more time.
            guard let record = state.upload(record.id), record.progress.expiry <= now() else { continue }
            do throws(WebDAVError) { try engine.drop(record) } catch {
                report("an upload whose time is up could not be removed: \(error.status.code)")
            }
        }
    }
}

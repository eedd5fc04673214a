internal import DavitAccess
internal import DavitHTTP
package import DavitStore

/// Uploads of all accounts, for administration. Calls may block.
extension UploadEngine {
    /// Returns the uploads that have not been published, ordered by target: those in folders that exist, and that the user of
    /// the share may see. Uploads in the trash return with their folders.
    ///
    /// Cost: one lookup per upload of the share.
    package func openUploads() -> [UploadRecord] {
        share.state.allUploads().filter { isOpen($0) }.sorted { first, second in
            let (a, b) = (first.target?.bytes ?? [], second.target?.bytes ?? [])
            return a == b ? first.id < second.id : a.lexicographicallyPrecedes(b)
        }
    }

    /// Cancels an upload of any account, removes its bytes, and aborts the request that is sending to it.
    ///
    /// - Parameter origin: the origin of the request, for the audit log.
    /// - Returns: the upload; nil if there is no such open upload.
    /// - Throws: ``StoreError``, also if the upload is being published, or if the audit log cannot be written.
    package func cancel(_ id: String, from origin: String) throws(StoreError) -> UploadRecord? {
        guard let record = share.state.upload(id), isOpen(record) else { return nil }
        let audit = share.configuration.audit
        try audit?.admitAdministration()
        do throws(WebDAVError) { try remove(record) } catch {
            throw .failed(reason: "status \(error.status.code)")
        }
        if let audit {
            var event = AuditEvent(.cancelUpload)
            event.path = record.target
            event.bytes = record.progress.offset
            event.origin = origin
            audit.record(event)
        }
        return record
    }

    private func remove(_ record: UploadRecord) throws(WebDAVError) {
        let session: Session
        do throws(WebDAVError) { session = try takeTurn(of: record, nil) } catch {
            guard error.status == .notFound else { throw error }
            // The bytes are gone or no longer accessible; then only the row is left.
            if let record = share.state.upload(record.id) { try drop(record) }
            return
        }
        try removeContent(session)
    }

    private func isOpen(_ record: UploadRecord) -> Bool {
        guard !record.progress.isComplete || record.options.contains(.isPart) else { return false }
        guard let target = record.target, share.isVisible(target) else { return false }
        let collection = try? share.resources.lookup(record.collection, last: .notFollowed, wait: .allowed)
        return collection?.info?.isCollection == true
    }
}

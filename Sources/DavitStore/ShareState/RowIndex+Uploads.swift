internal import DavitHTTP

/// Uploads are attached to the node of their collection, so that they move with the collection.
extension RowIndex {
    mutating func insert(_ upload: UploadRecord) {
        removeUpload(upload.id)
        walk(to: upload.collection) { $0.uploadCount += 1 }.uploads.insert(upload.id)
        uploads[upload.id] = upload
        uploadQuota.add(upload.chargedBytes, for: upload.client)
        if !upload.progress.isComplete || upload.options.contains(.isPart) {
            stagedNames.insert(upload.stagedName)
        }
    }

    mutating func removeUpload(_ id: String) {
        guard let upload = uploads.removeValue(forKey: id) else { return }
        uploadQuota.remove(upload.chargedBytes, for: upload.client)
        walk(to: upload.collection) { $0.uploadCount -= 1 }.uploads.remove(id)
        stagedNames.remove(upload.stagedName)
        prune(upload.collection)
    }

    mutating func setProgress(_ progress: UploadRecord.Progress, of id: String) {
        guard var upload = uploads[id] else { return }
        upload.progress = progress
        uploads[id] = upload
        // The bytes have been published under the target's name, so the staged name no longer exists.
        if progress.isComplete, !upload.options.contains(.isPart) { stagedNames.remove(upload.stagedName) }
    }

    /// Removes and returns the uploads to members of `path` and of all collections below it.
    mutating func removeUploads(under path: ResourcePath) -> [UploadRecord] {
        guard let top = node(at: path), top.uploadCount > 0 else { return [] }
        var ids: [String] = []
        top.forEach(where: { $0.uploadCount > 0 }, do: { ids.append(contentsOf: $0.uploads) })
        let removed = ids.compactMap { uploads[$0] }
        for id in ids { removeUpload(id) }
        return removed
    }
}

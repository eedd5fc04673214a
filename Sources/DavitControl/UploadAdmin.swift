internal import DavitEngine
internal import DavitStore

/// Lists and cancels uploads for an administrator, in the server or, if none is running, in the command. Calls block.
struct UploadAdmin: Sendable {
    let share: Share
    /// The origin of the request, for the audit log.
    let origin: String

    /// Returns one page of the open uploads, without the first `skipped`.
    func list(from skipped: Int) -> ControlResponse {
        .lines(uploads(from: skipped, limit: ControlResponse.limitLines).map(\.line))
    }

    /// Cost: linear in the number of all uploads of the share.
    func uploads(from skipped: Int, limit: Int) -> [ListedUpload] {
        UploadEngine(share: share).openUploads().dropFirst(skipped).prefix(limit).map { ListedUpload($0) }
    }

    /// Returns the upload that was cancelled; no line if there is none with this ID.
    func cancel(_ id: String) -> ControlResponse {
        do throws(StoreError) {
            let upload = try UploadEngine(share: share).cancel(id, from: origin)
            return .lines(upload.map { [ListedUpload($0).line] } ?? [])
        } catch {
            return .refused(reason: "cannot cancel the upload: \(error.text)")
        }
    }
}

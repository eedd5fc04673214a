internal import DavitStore
internal import Synchronization

/// The uploads that requests are using, and unused ones whose running digests are kept in memory.
final class UploadTable: Sendable {
    private struct Entry {
        let upload: OpenUpload
        var userCount = 0
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// A request's use of an upload. The use ends with ``end()``, or at the latest when this object is
    /// released: an upload in use remains open and does not expire.
    final class Lease: Sendable {
        let upload: OpenUpload
        private let table: UploadTable
        private let hasEnded = Atomic(false)

        fileprivate init(_ upload: OpenUpload, in table: UploadTable) {
            (self.upload, self.table) = (upload, table)
        }

        /// Ends the use. Later calls do nothing.
        func end() {
            if !hasEnded.exchange(true, ordering: .relaxed) { table.leave(upload) }
        }

        deinit { end() }
    }

    /// Begins a use of an upload. All users of an upload share one ``OpenUpload``.
    func enter(_ id: String) -> Lease {
        let upload = entries.withLock { entries in
            var entry = entries[id] ?? Entry(upload: OpenUpload(id))
            entry.userCount += 1
            entries[id] = entry
            return entry.upload
        }
        return Lease(upload, in: self)
    }

    private func leave(_ upload: OpenUpload) {
        entries.withLock { entries in
            guard var entry = entries[upload.id], entry.upload === upload else { return }
            entry.userCount -= 1
            guard entry.userCount == 0 else {
                entries[upload.id] = entry
                return
            }
            // There are no other users, so `close()` does not wait for the mutex of the upload.
            upload.close()
            entries[upload.id] = upload.keepsDigest ? entry : nil
        }
    }

    /// Drops unused uploads that no longer exist, for example because their collection was removed.
    func forget(where isGone: (String) -> Bool) {
        let idle = entries.withLock { entries in entries.filter { $0.value.userCount == 0 }.map(\.key) }
        let gone = idle.filter(isGone)
        entries.withLock { entries in
            for id in gone where entries[id]?.userCount == 0 { entries[id] = nil }
        }
    }

    /// Drops an upload that has ended.
    func forget(_ id: String) { entries.withLock { $0[id] = nil } }

    /// Whether a request is using the upload.
    func isInUse(_ id: String) -> Bool { entries.withLock { ($0[id]?.userCount ?? 0) > 0 } }
}

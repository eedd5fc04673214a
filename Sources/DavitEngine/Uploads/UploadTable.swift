internal import DavitStore
internal import Synchronization

/// The uploads that requests are about just now, and those of which a digest runs along.
final class UploadTable: Sendable {
    private struct Entry {
        let upload: OpenUpload
        var userCount = 0
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The use of an upload by a request. It ends when it is told to, at the latest with this object: an upload that was
    /// never left would stay open, and never expire.
    final class Stay: Sendable {
        let upload: OpenUpload
        private let table: UploadTable
        private let hasEnded = Atomic(false)

        fileprivate init(_ upload: OpenUpload, in table: UploadTable) {
            (self.upload, self.table) = (upload, table)
        }

        /// Once, whoever does it.
        func end() {
            if !hasEnded.exchange(true, ordering: .relaxed) { table.leave(upload) }
        }

        deinit { end() }
    }

    /// The one object of an upload.
    func enter(_ id: String) -> Stay {
        let upload = entries.withLock { entries in
            var entry = entries[id] ?? Entry(upload: OpenUpload(id))
            entry.userCount += 1
            entries[id] = entry
            return entry.upload
        }
        return Stay(upload, in: self)
    }

    private func leave(_ upload: OpenUpload) {
        entries.withLock { entries in
            guard var entry = entries[upload.id], entry.upload === upload else { return }
            entry.userCount -= 1
            guard entry.userCount == 0 else {
                entries[upload.id] = entry
                return
            }
            // Nobody else has it: nothing here has to be waited for.
            upload.close()
            entries[upload.id] = upload.keepsDigest ? entry : nil
        }
    }

    /// Forgets those that went away with their collection.
    func forget(where isGone: (String) -> Bool) {
        let idle = entries.withLock { entries in entries.filter { $0.value.userCount == 0 }.map(\.key) }
        let gone = idle.filter(isGone)
        entries.withLock { entries in
            for id in gone where entries[id]?.userCount == 0 { entries[id] = nil }
        }
    }

    /// The upload is over.
    func forget(_ id: String) { entries.withLock { $0[id] = nil } }

    /// Whether a request is about it.
    func isInUse(_ id: String) -> Bool { entries.withLock { ($0[id]?.userCount ?? 0) > 0 } }
}

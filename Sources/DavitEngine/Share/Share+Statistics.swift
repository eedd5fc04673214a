internal import DavitStore

extension Share {
    /// The sizes of the state of a share.
    package struct Statistics: Hashable, Sendable {
        package var locks = 0
        /// Uploads that are not complete, and the bytes received for them.
        package var openUploads = 0
        package var openUploadBytes: Int64 = 0
        package var trashEntries = 0
        package var trashBytes: Int64 = 0

        package init() {}

        package static func += (a: inout Self, b: Self) {
            a.locks += b.locks
            a.openUploads += b.openUploads
            a.openUploadBytes += b.openUploadBytes
            a.trashEntries += b.trashEntries
            a.trashBytes += b.trashBytes
        }
    }

    /// The current sizes. Cost: linear in the number of uploads.
    package var statistics: Statistics {
        var statistics = Statistics()
        statistics.locks = state.storedLockCount
        (statistics.openUploads, statistics.openUploadBytes) = state.openUploads
        let totals = state.trashTotals
        (statistics.trashEntries, statistics.trashBytes) = (totals.count, totals.bytes)
        return statistics
    }
}

package import DavitHTTP
internal import DavitStore
package import DavitSystem

/// The non-ASCII names of one folder, indexed by canonical equivalence.
package struct NameIndex {
    /// The timestamps of a folder when it was read, to detect changes on volumes without a watch.
    private struct FolderState: Equatable {
        let modified: Int64
        let changed: Int64

        init(_ status: FileStatus) {
            modified = status.modified
            changed = status.changed
        }
    }

    /// Timestamps can be as coarse as two seconds, and two changes within that interval cannot be
    /// distinguished. A folder must have been read at least this long after its last change for its
    /// timestamps to be conclusive.
    package static let coarsestNanoseconds: Int64 = 3_000_000_000

    /// The names in the folder. Of several equivalent names, only the first in byte order is stored.
    private(set) var names: Set<CanonicalName> = []
    /// Names that occur in more than one spelling.
    private var ambiguous: Set<CanonicalName> = []
    /// Whether the folder has been read completely, so that the index contains all of its non-ASCII names.
    /// Until then, the index only collects names that are added to the folder.
    private(set) var isWhole = false
    /// The key of the folder in the watch; nil if the folder is not watched.
    let watch: Int32?
    private var stamp: FolderState?
    private var readAt: Int64 = 0
    /// The value of the use counter when the index was last used.
    var lastUse: UInt64 = 0

    package init(watch: Int32?) { self.watch = watch }

    package func find(_ name: CanonicalName) -> [UInt8]? {
        names.firstIndex(of: name).map { names[$0].bytes }
    }

    package mutating func insert(_ name: CanonicalName) {
        guard let position = names.firstIndex(of: name) else {
            names.insert(name)
            return
        }
        let other = names[position]
        if other.text.utf8.elementsEqual(name.text.utf8) { return }
        ambiguous.insert(name)
        if name.text.utf8.lexicographicallyPrecedes(other.text.utf8) { names.update(with: name) }
    }

    package mutating func remove(_ name: CanonicalName) {
        // Only reading the folder again can determine the remaining spelling.
        if ambiguous.remove(name) != nil { isWhole = false }
        names.remove(name)
    }

    /// - Parameters:
    ///   - status: the status of the folder before it was read.
    ///   - time: the wall-clock time before it was read.
    package mutating func complete(with read: [CanonicalName], status: FileStatus, at time: Int64) {
        if names.isEmpty { names.reserveCapacity(read.count) }
        for name in read { insert(name) }
        isWhole = true
        stamp = FolderState(status)
        readAt = time
    }

    /// Whether a non-ASCII name that is not in the index is not in the folder either.
    /// - Parameter status: the current status of the folder.
    package func isCurrent(_ status: FileStatus) -> Bool {
        guard isWhole else { return false }
        if watch != nil { return true }
        let last = max(status.modified, status.changed)
        return stamp == FolderState(status) && last < readAt - Self.coarsestNanoseconds
    }
}

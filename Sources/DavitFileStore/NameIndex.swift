package import DavitStore
package import DavitSystem

/// The names of one folder that are not plain ASCII, by canonical equivalence.
package struct NameIndex {
    /// Where names that came and went have not been told since: how the folder looked when it was read.
    private struct Stamp: Equatable {
        let modified: Int64
        let changed: Int64

        init(_ status: FileStatus) {
            modified = status.modified
            changed = status.changed
        }
    }

    /// Volumes tell times to two seconds, and two changes within that look like one. So long after the last change
    /// a folder must have been read that its times speak for it.
    package static let coarsestNanoseconds: Int64 = 3_000_000_000

    /// Of equivalent names the first one in the order of bytes.
    private(set) var names: Set<CanonicalName> = []
    /// Of which there is more than one spelling.
    private var ambiguous: Set<CanonicalName> = []
    /// All names are here, and all that came since. Until then it gathers those that come.
    private(set) var isWhole = false
    /// The number of the folder for the watch.
    let watch: Int32?
    private var stamp: Stamp?
    private var readAt: Int64 = 0
    /// When it was used, in uses of all.
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
        // Which spelling is left, only the folder knows.
        if ambiguous.remove(name) != nil { isWhole = false }
        names.remove(name)
    }

    /// - Parameters:
    ///   - status: of the folder, before it was read.
    ///   - time: the wall clock, before that.
    package mutating func complete(with read: [CanonicalName], status: FileStatus, at time: Int64) {
        if names.isEmpty { names.reserveCapacity(read.count) }
        for name in read { insert(name) }
        isWhole = true
        stamp = Stamp(status)
        readAt = time
    }

    /// Whether a name that is not here is not in the folder.
    package func isCurrent(_ status: FileStatus) -> Bool {
        guard isWhole else { return false }
        if watch != nil { return true }
        let last = max(status.modified, status.changed)
        return stamp == Stamp(status) && last < readAt - Self.coarsestNanoseconds
    }
}

package import DavitHTTP
internal import Synchronization

/// Notices which property records below a path are moved, removed or replaced while a copy of the resources is made, so that
/// the copy does not get the properties of other resources. Active until it is released.
public final class RecordWatch: Sendable {
    /// The maximum number of noted paths. If there are more, no record below ``path`` is copied.
    private static let limit = 10_000

    private struct Notes {
        /// Paths at and below which the records belong to other resources, or to none.
        var trees: Set<ResourcePath> = []
        /// Paths whose own records are new, or belong to other resources.
        var records: Set<ResourcePath> = []
        var isFull = false
        /// Whether the path of the watch itself belongs to another resource.
        var isReplaced = false
    }

    let path: ResourcePath
    private let notes = Mutex(Notes())

    init(_ path: ResourcePath) { self.path = path }

    /// Whether another resource has taken the place of the watched one, and one of the two had properties.
    package var isReplaced: Bool { notes.withLock { $0.isReplaced } }

    /// Whether the record at `path` may belong to another resource than when this watch began.
    package func mayBeOfAnother(at path: ResourcePath) -> Bool {
        notes.withLock { notes in
            notes.isReplaced || notes.isFull && path != self.path || notes.records.contains(path)
                || notes.trees.contains { $0.contains(path) }
        }
    }

    /// Notes that the records at and below `tree` belong to other resources, or to none.
    func noteTree(_ tree: ResourcePath) {
        if tree.contains(path) {
            notes.withLock { $0.isReplaced = true }
        } else if path.contains(tree) {
            notes.withLock { if !Self.isFull(&$0) { $0.trees.insert(tree) } }
        }
    }

    /// Notes that `record` belongs to another resource, or is new.
    func noteRecord(_ record: ResourcePath, isNew: Bool) {
        guard path.contains(record) else { return }
        notes.withLock { notes in
            if record == path, !isNew { notes.isReplaced = true }
            if record == path || !Self.isFull(&notes) { notes.records.insert(record) }
        }
    }

    private static func isFull(_ notes: inout Notes) -> Bool {
        if notes.trees.count + notes.records.count >= limit { notes.isFull = true }
        return notes.isFull
    }
}

/// The active watches of a share.
struct RecordWatches: Sendable {
    private struct Entry {
        weak var watch: RecordWatch?
    }

    private var entries: [Entry] = []

    mutating func add(_ path: ResourcePath) -> RecordWatch {
        entries.removeAll { $0.watch == nil }
        let watch = RecordWatch(path)
        entries.append(Entry(watch: watch))
        return watch
    }

    /// - Parameter binding: returns the binding at a path before the changes.
    mutating func follow(_ changes: [StateChange], _ binding: (ResourcePath) -> Binding?) {
        if entries.isEmpty { return }
        entries.removeAll { $0.watch == nil }
        if entries.isEmpty { return }
        for change in changes {
            switch change {
            case .moveRows(let source, let destination):
                for entry in entries {
                    entry.watch?.noteTree(source)
                    entry.watch?.noteTree(destination)
                }
            case .removeRows(let path): for entry in entries { entry.watch?.noteTree(path) }
            case .putRecord(let path, let record): note(path, record.binding.identity, binding(path))
            case .copyProperties(_, let path, let new, _, _): note(path, new.identity, binding(path))
            case .bind(let path, let current, _): note(path, current, binding(path))
            default: break
            }
        }
    }

    private func note(_ path: ResourcePath, _ identity: ResourceIdentity, _ old: Binding?) {
        if let old, old.holds(for: identity) { return }
        for entry in entries { entry.watch?.noteRecord(path, isNew: old == nil) }
    }
}

package import DavitHTTP
internal import Synchronization

/// Notices which property records below a path are moved, removed or replaced while a copy of the resources is made, so that
/// the copy does not get the properties of other resources. Active until it is released.
public final class RecordWatch: Sendable {
    /// The number of paths at which all records count as replaced.
    private static let limit = 1_000

    let path: ResourcePath
    private let replaced = Mutex<[ResourcePath]>([])

    init(_ path: ResourcePath) { self.path = path }

    /// Whether the record at `path` may belong to another resource than when this watch began.
    package func isReplaced(at path: ResourcePath) -> Bool {
        replaced.withLock { $0.contains { $0.contains(path) } }
    }

    /// Notes that the records at and below `other` belong to other resources, or to none.
    func note(_ other: ResourcePath) {
        guard other.overlaps(path) else { return }
        replaced.withLock { replaced in
            if replaced.count == Self.limit { replaced = [path] } else { replaced.append(other) }
        }
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
                note(source)
                note(destination)
            case .removeRows(let path), .putRecord(let path, _), .copyProperties(_, let path, _, _, _):
                note(path)
            case .bind(let path, let current, _):
                if let old = binding(path), !old.holds(for: current) { note(path) }
            default: break
            }
        }
    }

    private func note(_ path: ResourcePath) { for entry in entries { entry.watch?.note(path) } }
}

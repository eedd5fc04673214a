public import DavitHTTP
internal import Synchronization

/// A state store in memory, for tests and for servers without persistent state.
///
/// Each commit copies all rows, so that a failed transaction needs no undo.
public final class MemoryStateStore: StateStore {
    private let rows = Mutex(MemoryRows())

    public init() {}

    public func apply(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
    ) throws(StateError) {
        try rows.withLock { (rows) throws(StateError) in
            var next = rows
            let emptying = try next.apply(changes)
            rows = next
            publish(emptying)
        }
    }

    public func locks() throws(StateError) -> [(lock: Lock, binding: Binding)] {
        rows.withLock { rows in
            rows.locks.compactMap { lock in rows.bindings[lock.root].map { (lock, $0) } }
        }
    }

    public func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)] {
        rows.withLock { rows in
            rows.properties.keys.compactMap { path in rows.bindings[path].map { (path, $0) } }
        }
    }

    public func intents() throws(StateError) -> [RenameIntent] {
        rows.withLock { rows in rows.intents.values.sorted { $0.id < $1.id } }
    }

    public func uploads() throws(StateError) -> [UploadRecord] {
        rows.withLock { rows in rows.uploads.values.sorted { $0.id < $1.id } }
    }

    public func trashTotals() throws(StateError) -> TrashTotals {
        rows.withLock { rows in
            rows.trash.values.reduce(into: TrashTotals()) { $0.add($1) }
        }
    }

    public func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        rows.withLock { rows in
            let later = rows.trash.values.filter { $0.number > number }
            return Array(later.sorted { $0.number < $1.number }.prefix(limit))
        }
    }

    public func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        rows.withLock { rows in rows.trash.values.first { $0.id == id } }
    }

    public func record(at path: ResourcePath) throws(StateError) -> PropertyRecord? {
        rows.withLock { rows in rows.record(at: path) }
    }

    public func records(
        at paths: [ResourcePath], limitBytes: Int
    ) throws(StateError) -> [PropertyRecord?] {
        rows.withLock { rows in
            var left = limitBytes
            var records: [PropertyRecord?] = []
            for path in paths {
                let record = rows.record(at: path)
                let bytes = record?.properties.reduce(0) { $0 + $1.byteCount } ?? 0
                if bytes > left { break }
                left -= bytes
                records.append(record)
            }
            return records
        }
    }

    public func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        rows.withLock { rows in
            rows.properties.keys.filter { path.contains($0) }.compactMap { inner in
                rows.record(at: inner).map { (inner, $0) }
            }
        }
    }
}

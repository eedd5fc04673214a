public import DavitHTTP
public import DavitStore

/// A state store that wraps another one, and contains only the behavior that it changes.
public protocol ForwardingStateStore: StateStore {
    /// The wrapped store.
    var base: any StateStore { get }
}

extension ForwardingStateStore {
    public func apply(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
    ) throws(StateError) { try base.apply(changes, publish: publish) }

    public func locks() throws(StateError) -> [(lock: Lock, binding: Binding)] { try base.locks() }

    public func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)] {
        try base.pathsWithProperties()
    }

    public func intents() throws(StateError) -> [RenameIntent] { try base.intents() }

    public func uploads() throws(StateError) -> [UploadRecord] { try base.uploads() }

    public func trashTotals() throws(StateError) -> TrashTotals { try base.trashTotals() }

    public func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try base.trash(after: number, limit: limit)
    }

    public func trashEntry(_ id: String) throws(StateError) -> TrashEntry? { try base.trashEntry(id) }

    public func record(at path: ResourcePath) throws(StateError) -> PropertyRecord? {
        try base.record(at: path)
    }

    public func records(
        at paths: [ResourcePath], limitBytes: Int
    ) throws(StateError) -> [PropertyRecord?] { try base.records(at: paths, limitBytes: limitBytes) }

    public func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        try base.records(under: path)
    }
}

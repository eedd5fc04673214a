internal import DavitHTTP
internal import DavitStore

/// A resource that was hidden in one of the folders of a ``MountedStore``.
final class MountedDetachedTree: DetachedTree {
    private let tree: any DetachedTree
    private let part: MountedPart

    init(_ tree: any DetachedTree, in part: MountedPart) {
        self.tree = tree
        self.part = part
    }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        tree.destroy().map { (part.outer($0.path), $0.error) }
    }

    func restore() throws(StoreError) { try tree.restore() }
}

/// A copy, or a new collection, in one of the folders of a ``MountedStore``.
final class MountedStagedTree: StagedTree {
    private let tree: any StagedTree
    /// The folder that contains the source of the copy.
    private let from: MountedPart
    private let to: MountedPart
    private let store: MountedStore

    init(_ tree: any StagedTree, from: MountedPart, to: MountedPart, in store: MountedStore) {
        self.tree = tree
        self.from = from
        self.to = to
        self.store = store
    }

    var path: ResourcePath { to.outer(tree.path) }

    var destination: ResourcePath {
        get { to.outer(tree.destination) }
        set { tree.destination = to.local(newValue) }
    }

    var info: ResourceInfo { tree.info }

    var failures: [(path: ResourcePath, error: StoreError)] {
        tree.failures.map { (from.outer($0.path), $0.error) }
    }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        guard store.part(of: path) === from else { return nil }
        return try tree.identity(ofCopyOf: from.local(path))
    }

    func publish(isReplacing: Bool) throws(StoreError) { try tree.publish(isReplacing: isReplacing) }
    func publishOverContent() throws(StoreError) { try tree.publishOverContent() }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        try tree.publish(keepingReplacedAt: to.local(trash))
    }

    func unpublish(isReplacing: Bool) throws(StoreError) { try tree.unpublish(isReplacing: isReplacing) }
    func destroy() { tree.destroy() }
}

internal import DavitHTTP
internal import DavitStore

/// A resource of the share that was hidden, for a folder together with the sidecars of its members.
final class TreeWithSidecars: DetachedTree {
    private let tree: any DetachedTree
    private let sidecars: (any DetachedTree)?

    init(_ tree: any DetachedTree, sidecars: (any DetachedTree)?) {
        self.tree = tree
        self.sidecars = sidecars
    }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        let failures = tree.destroy()
        // If part of the folder could not be removed, leave its sidecars in place.
        if failures.isEmpty { _ = sidecars?.destroy() }
        return failures
    }

    func restore() throws(StoreError) {
        try tree.restore()
        try? sidecars?.restore()
    }
}

/// A copy of a folder, together with a copy of its sidecars.
final class CopyWithSidecars: StagedTree {
    private struct State {
        /// The sidecars of the replaced folder.
        var replaced: (any DetachedTree)?
        var hasSidecars = false
    }

    private let tree: any StagedTree
    /// The copy of the sidecars; nil if there are none.
    private let sidecars: (any StagedTree)?
    private let sidecarFolder: FileResourceStore
    private let state = Exclusive(State())

    init(
        _ tree: any StagedTree, sidecars: (any StagedTree)?, sidecarFolder: FileResourceStore
    ) {
        self.tree = tree
        self.sidecars = sidecars
        self.sidecarFolder = sidecarFolder
    }

    var path: ResourcePath { tree.path }
    var destination: ResourcePath {
        get { tree.destination }
        set {
            tree.destination = newValue
            sidecars?.destination = newValue
        }
    }
    var info: ResourceInfo { tree.info }
    var failures: [(path: ResourcePath, error: StoreError)] { tree.failures }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        if MacMetadataName.sidecar(in: path) != nil, let sidecars,
            let identity = try sidecars.identity(ofCopyOf: path)
        {
            return identity
        }
        return try tree.identity(ofCopyOf: path)
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        try tree.publish(isReplacing: isReplacing)
        publishSidecars()
    }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        try tree.publish(keepingReplacedAt: trash)
        publishSidecars()
    }

    private func publishSidecars() {
        // The folder's copy is already published, so errors of sidecars are ignored.
        state.withValue { state in
            if (try? sidecarFolder.identity(at: destination)) ?? nil != nil {
                state.replaced = try? sidecarFolder.detach(destination)
            }
            state.hasSidecars = sidecars.map { (try? $0.publish(isReplacing: false)) != nil } ?? false
        }
    }

    func publishOverContent() throws(StoreError) { try tree.publishOverContent() }

    func unpublish(isReplacing: Bool) throws(StoreError) {
        try tree.unpublish(isReplacing: isReplacing)
        state.withValue { state in
            if state.hasSidecars { try? sidecars?.unpublish(isReplacing: false) }
            try? state.replaced?.restore()
            state.replaced = nil
        }
    }

    func destroy() {
        tree.destroy()
        sidecars?.destroy()
        state.withValue { state in
            _ = state.replaced?.destroy()
            state.replaced = nil
        }
    }
}

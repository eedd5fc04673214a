internal import DavitHTTP
internal import DavitStore

/// A folder that was taken out of sight together with its companions.
final class AccompaniedTree: DetachedTree {
    private let tree: any DetachedTree
    private let companions: (any DetachedTree)?

    init(_ tree: any DetachedTree, companions: (any DetachedTree)?) {
        self.tree = tree
        self.companions = companions
    }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        let failures = tree.destroy()
        // Where some of the folder stays, they do.
        if failures.isEmpty { _ = companions?.destroy() }
        return failures
    }

    func restore() throws(StoreError) {
        try tree.restore()
        try? companions?.restore()
    }
}

/// A copy of a folder, and one of its companions.
///
/// `@unchecked`: one task at a time uses it, as ``StagedTree`` asks.
final class AccompaniedCopy: StagedTree, @unchecked Sendable {
    private let tree: any StagedTree
    /// Nil if there are none.
    private let companions: (any StagedTree)?
    private let aside: FileResourceStore
    /// The companions of what was replaced.
    private var replaced: (any DetachedTree)?
    private var hasCompanions = false

    init(
        _ tree: any StagedTree, companions: (any StagedTree)?, aside: FileResourceStore
    ) {
        self.tree = tree
        self.companions = companions
        self.aside = aside
    }

    var path: ResourcePath { tree.path }
    var destination: ResourcePath {
        get { tree.destination }
        set {
            tree.destination = newValue
            companions?.destination = newValue
        }
    }
    var info: ResourceInfo { tree.info }
    var failures: [(path: ResourcePath, error: StoreError)] { tree.failures }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        if LitterName.companion(in: path) != nil, let companions,
            let identity = try companions.identity(ofCopyOf: path)
        {
            return identity
        }
        return try tree.identity(ofCopyOf: path)
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        try tree.publish(isReplacing: isReplacing)
        publishCompanions()
    }

    func publish(keepingReplacedAt trash: TrashPlace) throws(StoreError) {
        try tree.publish(keepingReplacedAt: trash)
        publishCompanions()
    }

    private func publishCompanions() {
        // The copy stands: companions cannot undo it.
        if (try? aside.identity(at: destination)) ?? nil != nil { replaced = try? aside.detach(destination) }
        hasCompanions = companions.map { (try? $0.publish(isReplacing: false)) != nil } ?? false
    }

    func publishOverContent() throws(StoreError) { try tree.publishOverContent() }

    func unpublish(isReplacing: Bool) throws(StoreError) {
        try tree.unpublish(isReplacing: isReplacing)
        if hasCompanions { try? companions?.unpublish(isReplacing: false) }
        try? replaced?.restore()
        replaced = nil
    }

    func destroy() {
        tree.destroy()
        companions?.destroy()
        _ = replaced?.destroy()
        replaced = nil
    }
}

internal import DavitHTTP
internal import DavitStore

/// A folder that was hidden together with the sidecars of its members.
final class AccompaniedTree: DetachedTree {
    private let tree: any DetachedTree
    private let companions: (any DetachedTree)?

    init(_ tree: any DetachedTree, companions: (any DetachedTree)?) {
        self.tree = tree
        self.companions = companions
    }

    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        let failures = tree.destroy()
        // If part of the folder could not be removed, its sidecars are kept.
        if failures.isEmpty { _ = companions?.destroy() }
        return failures
    }

    func restore() throws(StoreError) {
        try tree.restore()
        try? companions?.restore()
    }
}

/// A copy of a folder, together with a copy of its sidecars.
///
/// `@unchecked`: used by one task at a time, as ``StagedTree`` requires.
final class AccompaniedCopy: StagedTree, @unchecked Sendable {
    private let tree: any StagedTree
    /// Nil if there are no sidecars.
    private let companions: (any StagedTree)?
    private let aside: FileResourceStore
    /// The sidecars of the replaced folder.
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
        // The folder's copy is already published, so errors of sidecars are ignored.
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

internal import DavitHTTP
internal import DavitStore

/// One of the folders of a ``MountedStore``, with its path in the tree. Converts between paths in the tree and paths
/// in the folder, which are also called local paths.
final class MountedPart: Sendable {
    /// The path of the folder in the tree; the root for the folder that contains the mount points.
    let path: ResourcePath
    /// ``path`` in a form that is the same for all Unicode spellings.
    let key: ResourcePath
    let store: FileResourceStore
    private let depth: Int

    init(_ store: FileResourceStore, at path: ResourcePath) {
        self.store = store
        self.path = path
        key = path.equivalenceKey
        depth = path.depth
    }

    /// Returns the path in the folder.
    /// - Parameter path: at or below the mount point, in any Unicode spelling.
    func local(_ path: ResourcePath) -> ResourcePath {
        if depth == 0 { return path }
        let rest = path.bytes.split(
            separator: UInt8(ascii: "/"), maxSplits: depth, omittingEmptySubsequences: false)
        return rest.count > depth ? ResourcePath(unchecked: Array(rest[depth])) : .root
    }

    func local(_ location: ResourceLocation) -> ResourceLocation {
        ResourceLocation(local(location.path), in: location.collection)
    }

    func local(_ trash: TrashLocation) -> TrashLocation {
        TrashLocation(local(trash.location), canExchange: trash.canExchange)
    }

    /// Returns the path in the tree, with the mount point in its configured spelling.
    func outer(_ local: ResourcePath) -> ResourcePath {
        if depth == 0 { return local }
        return local.isRoot ? path : ResourcePath(unchecked: path.bytes + [UInt8(ascii: "/")] + local.bytes)
    }

    func outer(_ location: ResourceLocation) -> ResourceLocation {
        ResourceLocation(outer(location.path), in: location.collection)
    }

    func outer(_ lookup: Lookup) -> Lookup {
        if depth == 0 { return lookup }
        return Lookup(path: outer(lookup.path), state: lookup.state, collection: lookup.collection)
    }
}

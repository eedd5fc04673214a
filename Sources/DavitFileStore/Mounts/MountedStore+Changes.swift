package import DavitHTTP
package import DavitStore

extension MountedStore {
    package func createCollection(at location: ResourceLocation) throws(StoreError) {
        let part = part(of: location.path)
        try part.store.createCollection(at: part.local(location))
    }

    package func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        let (from, to) = try parts(from: source, to: destination)
        try to.store.rename(from.local(source), of: from.store, toFree: to.local(destination))
    }

    package func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        let (from, to) = try parts(from: source.path, to: destination.path)
        return try to.store.renameInOneStep(
            from.local(source), of: from.store, toFree: to.local(destination))
    }

    package func rename(
        _ source: ResourceLocation, overContent destination: ResourceLocation
    ) throws(StoreError) {
        let (from, to) = try parts(from: source.path, to: destination.path)
        try to.store.rename(from.local(source), of: from.store, overContent: to.local(destination))
    }

    package func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        let (first, second) = try parts(from: a, to: b)
        try first.store.exchange(first.local(a), with: second.store, second.local(b))
    }

    /// Returns the folders of both ends of a rename.
    private func parts(
        from source: ResourcePath, to destination: ResourcePath
    ) throws(StoreError) -> (MountedPart, MountedPart) {
        try checkMovable(source)
        try checkMovable(destination)
        return (part(of: source), part(of: destination))
    }

    package func removeContent(at location: ResourceLocation) throws(StoreError) {
        let part = part(of: location.path)
        try part.store.removeContent(at: part.local(location))
    }

    package func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try checkMovable(path)
        let part = part(of: path)
        return MountedDetachedTree(try part.store.detach(part.local(path)), in: part)
    }

    package func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        try checkMovable(path)
        let part = part(of: path)
        try part.store.removeEmptyCollection(at: part.local(path))
    }

    package func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) {
        let part = part(of: path)
        try part.store.setAttributes(attributes, at: part.local(path))
    }

    // MARK: Staging and uploads

    package func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent {
        let part = part(of: location.path)
        let content = try part.store.stageContent(
            for: part.local(location), expectedLength: expectedLength, replaces: replaces)
        return MountedStagedContent(content, in: part)
    }

    package func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        let part = part(of: location.path)
        let (content, base) = try part.store.stageUpdate(of: part.local(location))
        return (MountedStagedContent(content, in: part), base)
    }

    package func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        let part = part(of: location.path)
        return MountedUpload(
            try part.store.stageUpload(for: part.local(location), expectedLength: expectedLength), in: part)
    }

    package func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        let part = part(of: location.path)
        return MountedUpload(
            try part.store.upload(named: stagedName, identity, for: part.local(location)), in: part)
    }

    package func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        for part in parts { part.store.keepUploads(where: isKept) }
    }

    package func removeLeftover(at path: ResourcePath) {
        let part = part(of: path)
        part.store.removeLeftover(at: part.local(path))
    }

    package func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        let part = part(of: path)
        return MountedStagedTree(
            try part.store.stageCollection(at: part.local(path)), from: part, to: part, in: self)
    }

    /// - Throws: also `forbidden` if a folder is mounted below the source, because the copy would be incomplete.
    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?, heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        let (from, to) = (part(of: source), part(of: destination))
        if includesMembers {
            let key = source.equivalenceKey
            if parts.contains(where: { $0.key != key && key.contains($0.key) }) { throw .forbidden }
        }
        let tree = try to.store.stageCopy(
            of: from.local(source), in: from.store, for: to.local(destination),
            includesMembers: includesMembers, filter: MountedFilter(filter, in: from, of: self),
            heightLimit: heightLimit)
        return MountedStagedTree(tree, from: from, to: to, in: self)
    }
}

/// Passes the paths of members in the tree to a filter, and leaves out links to what mounted folders hide.
private struct MountedFilter: CopyFilter {
    /// Nil to copy everything else.
    private let filter: (any CopyFilter)?
    private let part: MountedPart
    private let store: MountedStore

    /// - Parameter part: the folder that contains the source.
    init(_ filter: (any CopyFilter)?, in part: MountedPart, of store: MountedStore) {
        self.filter = filter
        self.part = part
        self.store = store
    }

    func omits(_ name: [UInt8], at path: @autoclosure () -> ResourcePath?) -> Bool {
        filter?.omits(name, at: path().map { part.outer($0) }) == true
    }

    func omits(target: ResourcePath) -> Bool {
        let path = part.outer(target)
        // A copy follows links only within one folder, so it would contain what the folder has at the mount point.
        return store.part(of: path) !== part || store.hasMountPoint(in: path)
            || filter?.omits(target: path) == true
    }

    var replacesSource: Bool { filter?.replacesSource == true }

    func omits(content name: [UInt8]) -> Bool { filter?.omits(content: name) == true }

    func admission(at path: @autoclosure () -> ResourcePath?) -> CopyAdmission {
        filter?.admission(at: path().map { part.outer($0) }) ?? .copy
    }
}

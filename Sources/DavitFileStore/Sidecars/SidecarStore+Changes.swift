public import DavitHTTP
public import DavitStore

extension SidecarStore {
    public func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent {
        if try home(of: location.path) == .share {
            return try share.stageContent(
                for: location, expectedLength: expectedLength, replaces: replaces)
        }
        // The content exceeds the limit of the entire store.
        if expectedLength ?? 0 > Self.limitBytes { throw .outOfSpace }
        try makeCollections(above: location.path)
        return try sidecarFolder.stageContent(
            for: ResourceLocation(location.path), expectedLength: expectedLength, replaces: replaces)
    }

    public func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        if try home(of: location.path) == .share {
            return try share.stageUpload(for: location, expectedLength: expectedLength)
        }
        // The content exceeds the limit of the entire store.
        if expectedLength ?? 0 > Self.limitBytes { throw .outOfSpace }
        try makeCollections(above: location.path)
        return try sidecarFolder.stageUpload(
            for: ResourceLocation(location.path), expectedLength: expectedLength)
    }

    public func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        try home(of: location.path) == .share
            ? share.upload(named: stagedName, identity, for: location)
            : sidecarFolder.upload(named: stagedName, identity, for: ResourceLocation(location.path))
    }

    public func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        share.keepUploads(where: isKept)
        sidecarFolder.keepUploads(where: isKept)
    }

    public func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        switch try home(of: location.path) {
        case .share: try share.stageUpdate(of: location)
        case .sidecarFolder: try sidecarFolder.stageUpdate(of: ResourceLocation(location.path))
        }
    }

    public func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        if try home(of: path) == .sidecarFolder {
            try makeCollections(above: path)
            return try sidecarFolder.stageCollection(at: path)
        }
        // Remove sidecars of a folder that another program has removed.
        clear(path)
        return try share.stageCollection(at: path)
    }

    public func createCollection(at location: ResourceLocation) throws(StoreError) {
        if try home(of: location.path) == .share {
            try share.createCollection(at: location)
            // Remove sidecars of a folder that another program has removed.
            return clear(location.path)
        }
        try makeCollections(above: location.path)
        try sidecarFolder.createCollection(at: ResourceLocation(location.path))
    }

    public func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        let (from, to) = (try home(of: source), try home(of: destination))
        if to == .sidecarFolder { try makeCollections(above: destination) }
        guard from == to else {
            return try CrossFolderCopy(
                of: source, in: from == .share ? share : sidecarFolder, for: destination,
                in: to == .share ? share : sidecarFolder)
        }
        if from == .sidecarFolder {
            return try sidecarFolder.stageCopy(
                of: source, for: destination, includesMembers: includesMembers, filter: filter,
                heightLimit: heightLimit)
        }
        let tree = try share.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, filter: filter,
            heightLimit: heightLimit)
        guard tree.info.isCollection else { return tree }
        return CopyWithSidecars(
            tree, sidecars: includesMembers ? copySidecars(of: source, for: destination, filter) : nil,
            sidecarFolder: sidecarFolder)
    }

    /// Copies the sidecars of a folder. Errors are ignored, so that they do not fail the copy.
    private func copySidecars(
        of source: ResourcePath, for destination: ResourcePath, _ filter: (any CopyFilter)?
    ) -> (any StagedTree)? {
        guard (try? sidecarFolder.identity(at: source)) ?? nil != nil else { return nil }
        guard (try? makeCollections(above: destination)) != nil else { return nil }
        return try? sidecarFolder.stageCopy(
            of: source, for: destination, includesMembers: true, filter: filter, heightLimit: .max)
    }

    public func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        guard try commonHome(source, destination) == .share else {
            try makeCollections(above: destination)
            return try sidecarFolder.rename(source, toFree: destination)
        }
        try share.rename(source, toFree: destination)
        carry(source, to: destination)
    }

    public func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        guard try commonHome(source.path, destination.path) == .share else {
            try makeCollections(above: destination.path)
            return try sidecarFolder.renameInOneStep(
                ResourceLocation(source.path), toFree: ResourceLocation(destination.path))
        }
        guard try share.renameInOneStep(source, toFree: destination) else { return false }
        carry(source.path, to: destination.path)
        return true
    }

    public func rename(_ source: ResourceLocation, overContent destination: ResourceLocation)
        throws(StoreError)
    {
        switch try commonHome(source.path, destination.path) {
        case .share: try share.rename(source, overContent: destination)
        case .sidecarFolder:
            try sidecarFolder.rename(
                ResourceLocation(source.path), overContent: ResourceLocation(destination.path))
        }
    }

    public func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        if try commonHome(a, b) == .sidecarFolder { return try sidecarFolder.exchange(a, b) }
        try share.exchange(a, b)
        let (hasA, hasB) = (hasSidecars(a), hasSidecars(b))
        if hasA, hasB {
            try? sidecarFolder.exchange(a, b)
        } else if hasA {
            carry(a, to: b)
        } else if hasB {
            carry(b, to: a)
        }
    }

    public func removeContent(at location: ResourceLocation) throws(StoreError) {
        switch try home(of: location.path) {
        case .share: try share.removeContent(at: location)
        case .sidecarFolder: try sidecarFolder.removeContent(at: ResourceLocation(location.path))
        }
    }

    public func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        if try home(of: path) == .sidecarFolder { return try sidecarFolder.detach(path) }
        let tree = try share.detach(path)
        return TreeWithSidecars(tree, sidecars: hasSidecars(path) ? try? sidecarFolder.detach(path) : nil)
    }

    public func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        if try home(of: path) == .sidecarFolder { return try sidecarFolder.removeEmptyCollection(at: path) }
        // There may be many sidecars of members that have been removed without them.
        if hasSidecars(path) { throw .alreadyExists }
        try share.removeEmptyCollection(at: path)
    }

    public func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) { try store(of: path).setAttributes(attributes, at: path) }

    // MARK: Sidecar folders

    private func hasSidecars(_ path: ResourcePath) -> Bool {
        ((try? sidecarFolder.identity(at: path)) ?? nil) != nil
    }

    /// Moves the sidecars of a folder that has been moved. The folder itself is already at its destination,
    /// so a failure only separates it from its sidecars. The sidecars of a folder that moves to the trash
    /// remain in place, where they are found again if the folder is restored.
    private func carry(_ source: ResourcePath, to destination: ResourcePath) {
        if ReservedName.isTrash(above: source) || ReservedName.isTrash(above: destination) { return }
        clear(destination)
        guard hasSidecars(source), (try? makeCollections(above: destination)) != nil else { return }
        try? sidecarFolder.rename(source, toFree: destination)
    }

    /// Removes the sidecars of a folder that no longer exists.
    private func clear(_ path: ResourcePath) {
        guard hasSidecars(path) else { return }
        _ = (try? sidecarFolder.detach(path))?.destroy()
    }

    private func makeCollections(above path: ResourcePath) throws(StoreError) {
        var missing: [ResourcePath] = []
        var above = path.parent
        while let next = above, try sidecarFolder.identity(at: next) == nil {
            missing.append(next)
            above = next.parent
        }
        for path in missing.reversed() {
            do throws(StoreError) { try sidecarFolder.createCollection(at: path) } catch .alreadyExists {
                // Another request has created the folder in the meantime.
            } catch {
                throw error
            }
        }
    }
}

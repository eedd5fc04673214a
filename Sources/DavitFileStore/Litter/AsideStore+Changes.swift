public import DavitHTTP
public import DavitStore

extension AsideStore {
    public func stageContent(
        for place: Place, expectedLength: Int64?
    ) throws(StoreError) -> any StagedContent {
        if try home(of: place.path) == .share {
            return try share.stageContent(for: place, expectedLength: expectedLength)
        }
        // More than the store keeps at all.
        if expectedLength ?? 0 > Self.limitBytes { throw .outOfSpace }
        try makeCollections(above: place.path)
        return try aside.stageContent(for: Place(place.path), expectedLength: expectedLength)
    }

    public func stageUpload(
        for place: Place, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent {
        if try home(of: place.path) == .share {
            return try share.stageUpload(for: place, expectedLength: expectedLength)
        }
        // More than the store keeps at all.
        if expectedLength ?? 0 > Self.limitBytes { throw .outOfSpace }
        try makeCollections(above: place.path)
        return try aside.stageUpload(for: Place(place.path), expectedLength: expectedLength)
    }

    public func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for place: Place
    ) throws(StoreError) -> any UploadContent {
        try home(of: place.path) == .share
            ? share.upload(named: stagedName, identity, for: place)
            : aside.upload(named: stagedName, identity, for: Place(place.path))
    }

    public func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {
        share.keepUploads(where: isKept)
        aside.keepUploads(where: isKept)
    }

    public func stageUpdate(
        of place: Place
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        switch try home(of: place.path) {
        case .share: try share.stageUpdate(of: place)
        case .aside: try aside.stageUpdate(of: Place(place.path))
        }
    }

    public func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        if try home(of: path) == .aside {
            try makeCollections(above: path)
            return try aside.stageCollection(at: path)
        }
        // Remove sidecars of a folder that another program has removed.
        clear(path)
        return try share.stageCollection(at: path)
    }

    public func createCollection(at place: Place) throws(StoreError) {
        if try home(of: place.path) == .share {
            try share.createCollection(at: place)
            // Remove sidecars of a folder that another program has removed.
            return clear(place.path)
        }
        try makeCollections(above: place.path)
        try aside.createCollection(at: Place(place.path))
    }

    public func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool, rules: ShareRules?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        let (from, to) = (try home(of: source), try home(of: destination))
        if to == .aside { try makeCollections(above: destination) }
        guard from == to else {
            return try ContentCopy(
                of: source, in: from == .share ? share : aside, for: destination,
                in: to == .share ? share : aside)
        }
        if from == .aside {
            return try aside.stageCopy(
                of: source, for: destination, includesMembers: includesMembers, rules: rules,
                heightLimit: heightLimit)
        }
        let tree = try share.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, rules: rules,
            heightLimit: heightLimit)
        guard tree.info.isCollection else { return tree }
        return AccompaniedCopy(
            tree, companions: includesMembers ? copyCompanions(of: source, for: destination, rules) : nil,
            aside: aside)
    }

    /// Copies the sidecars of a folder. Errors are ignored, because they are no reason to fail the copy.
    private func copyCompanions(
        of source: ResourcePath, for destination: ResourcePath, _ rules: ShareRules?
    ) -> (any StagedTree)? {
        guard (try? aside.identity(at: source)) ?? nil != nil else { return nil }
        guard (try? makeCollections(above: destination)) != nil else { return nil }
        return try? aside.stageCopy(
            of: source, for: destination, includesMembers: true, rules: rules, heightLimit: .max)
    }

    public func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        guard try commonHome(source, destination) == .share else {
            try makeCollections(above: destination)
            return try aside.rename(source, toFree: destination)
        }
        try share.rename(source, toFree: destination)
        carry(source, to: destination)
    }

    public func renameInOneStep(
        _ source: Place, toFree destination: Place
    ) throws(StoreError) -> Bool {
        guard try commonHome(source.path, destination.path) == .share else {
            try makeCollections(above: destination.path)
            return try aside.renameInOneStep(Place(source.path), toFree: Place(destination.path))
        }
        guard try share.renameInOneStep(source, toFree: destination) else { return false }
        carry(source.path, to: destination.path)
        return true
    }

    public func rename(_ source: Place, overContent destination: Place) throws(StoreError) {
        switch try commonHome(source.path, destination.path) {
        case .share: try share.rename(source, overContent: destination)
        case .aside: try aside.rename(Place(source.path), overContent: Place(destination.path))
        }
    }

    public func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        if try commonHome(a, b) == .aside { return try aside.exchange(a, b) }
        try share.exchange(a, b)
        let (hasA, hasB) = (hasCompanions(a), hasCompanions(b))
        if hasA, hasB {
            try? aside.exchange(a, b)
        } else if hasA {
            carry(a, to: b)
        } else if hasB {
            carry(b, to: a)
        }
    }

    public func removeContent(at place: Place) throws(StoreError) {
        switch try home(of: place.path) {
        case .share: try share.removeContent(at: place)
        case .aside: try aside.removeContent(at: Place(place.path))
        }
    }

    public func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        if try home(of: path) == .aside { return try aside.detach(path) }
        let tree = try share.detach(path)
        return AccompaniedTree(tree, companions: hasCompanions(path) ? try? aside.detach(path) : nil)
    }

    public func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        if try home(of: path) == .aside { return try aside.removeEmptyCollection(at: path) }
        try share.removeEmptyCollection(at: path)
        clear(path)
    }

    public func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) { try store(of: path).setAttributes(attributes, at: path) }

    // MARK: Sidecar folders

    private func hasCompanions(_ path: ResourcePath) -> Bool {
        ((try? aside.identity(at: path)) ?? nil) != nil
    }

    /// Moves the sidecars of a folder that has been moved. The folder itself is already at its destination,
    /// so a failure only separates it from its sidecars. The sidecars of a folder that moves to the trash
    /// stay, in case it is restored.
    private func carry(_ source: ResourcePath, to destination: ResourcePath) {
        if ReservedName.isTrash(above: source) || ReservedName.isTrash(above: destination) { return }
        clear(destination)
        guard hasCompanions(source), (try? makeCollections(above: destination)) != nil else { return }
        try? aside.rename(source, toFree: destination)
    }

    /// Removes the sidecars of a folder that no longer exists.
    private func clear(_ path: ResourcePath) {
        guard hasCompanions(path) else { return }
        _ = (try? aside.detach(path))?.destroy()
    }

    private func makeCollections(above path: ResourcePath) throws(StoreError) {
        var missing: [ResourcePath] = []
        var above = path.parent
        while let next = above, try aside.identity(at: next) == nil {
            missing.append(next)
            above = next.parent
        }
        for path in missing.reversed() {
            do throws(StoreError) { try aside.createCollection(at: path) } catch .alreadyExists {
                // Another request has created it meanwhile.
            } catch {
                throw error
            }
        }
    }
}

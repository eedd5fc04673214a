internal import DavitHTTP
internal import DavitStore

/// Places a copied, moved or restored resource and its rows at the destination. The replaced resource, if any, is
/// removed, hidden or moved to the trash.
final class ResourceMover: Sendable {
    private let resources: any ResourceStore
    private let state: any ShareState
    private let intents: RenameIntents
    private let trash: TrashCan
    /// See ``ShareConfiguration/propertyLimitBytes``.
    private let propertyLimitBytes: Int

    init(
        _ resources: any ResourceStore, _ state: any ShareState, _ intents: RenameIntents, _ trash: TrashCan,
        propertyLimitBytes: Int
    ) {
        self.resources = resources
        self.state = state
        self.intents = intents
        self.trash = trash
        self.propertyLimitBytes = propertyLimitBytes
    }

    /// Publishes a finished copy at the destination, with the properties of its source (RFC 4918 §9.8.2). Replaces the
    /// existing resource, if any.
    /// - Parameter watch: has watched the records of the source since before it was copied.
    /// - Returns: the trash entry of the replaced resource; nil if none was replaced or it was not kept.
    func swapIn(
        _ staged: any StagedTree, from source: ResourcePath, _ watch: RecordWatch?, to destination: Lookup,
        _ context: RequestContext
    ) throws(WebDAVError) -> TrashEntry? {
        let old = destination.info
        return try storing { () throws(StoreError) in
            try reservingTrashIfPossible(replaced: destination, context) { (reservation) throws(StoreError) in
                let rows = try copiedRows(of: source, watch, in: staged, isMove: false)
                if reservation == nil, rows.isEmpty && !state.hasRows(atOrUnder: destination.path) {
                    guard let old else {
                        try staged.publish(isReplacing: false)
                        return nil
                    }
                    if !old.isCollection && !staged.info.isCollection {
                        try staged.publishOverContent()
                        return recordReplaced(nil, destination, staged.info.entityTag, context)
                    }
                }
                let intent = RenameIntent(
                    id: state.nextIntentID(), source: staged.path, destination: destination.path,
                    moved: staged.info.identity, replaced: old?.identity, isCopy: true,
                    kept: reservation?.entry.location)
                try intents.perform(intent, rows: rows, reservation: reservation?.entry) {
                    () throws(StoreError) in
                    try Self.publish(staged, isReplacing: old != nil, reservation)
                } undo: { () throws(StoreError) in
                    try staged.unpublish(isReplacing: old != nil)
                }
                return recordReplaced(reservation, destination, staged.info.entityTag, context)
            }
        }
    }

    /// Runs a change that moves the replaced resource to the trash. If that fails, runs the change without the trash.
    ///
    /// The rename into the trash can fail with `crossVolume`, because parts of a volume can have their own quotas, and
    /// with `forbidden`, because a directory must be writable to be moved to another parent.
    /// - Parameter isRequested: see ``TrashCan/reservation(_:at:because:isRequested:_:)``.
    private func reservingTrashIfPossible<R>(
        replaced destination: Lookup, isRequested: Bool = false, _ context: RequestContext,
        _ change: (TrashReservation?) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard
            let reservation = try trash.reservation(replaced: destination, isRequested: isRequested, context)
        else {
            return try change(nil)
        }
        do throws(StoreError) { return try change(reservation) } catch {
            guard error == .crossVolume || error == .forbidden else { throw error }
            let result = try change(nil)
            trash.reportUnkept(destination.path, error)
            return result
        }
    }

    private static func publish(
        _ staged: any StagedTree, isReplacing: Bool, _ reservation: TrashReservation?
    ) throws(StoreError) {
        guard let reservation else { return try staged.publish(isReplacing: isReplacing) }
        try staged.publish(keepingReplacedAt: reservation.trash)
    }

    /// Records the version that the change has moved to the trash, if any, and returns its entry.
    /// - Parameter content: the entity tag of the new content; nil if the trash must keep this content when it is
    ///   replaced in turn.
    private func recordReplaced(
        _ reservation: TrashReservation?, _ destination: Lookup, _ content: EntityTag?,
        _ context: RequestContext
    ) -> TrashEntry? {
        guard let entry = reservation?.entry else {
            if let old = destination.info {
                trash.versions.follow(destination.path, from: old.entityTag, to: content)
            }
            return nil
        }
        if !entry.isCollection {
            trash.versions.record(entry.path, by: context.principal, now: context.now, content: content)
        }
        return entry
    }

    /// Returns the entity tag of a moved resource that was created recently; nil for an older one.
    ///
    /// A recent resource need not be kept if it is replaced soon: typically, a program has written it under a temporary
    /// name and then renamed it. An older resource must be kept, because there may be no other copy of its content.
    private func draft(_ moved: ResourceInfo, _ context: RequestContext) -> EntityTag? {
        guard let limits = trash.limits, let created = moved.created,
            context.now < created.adding(seconds: limits.versionSeconds)
        else { return nil }
        return moved.entityTag
    }

    /// Publishes a copy from another volume at the destination, and hides the original. One intent covers both steps,
    /// because a crash between them would otherwise leave two copies of the resource.
    ///
    /// - Parameters:
    ///   - source: the resource that was copied.
    ///   - origin: the resource to hide: the source, or the symbolic link that leads to it.
    /// - Returns: the hidden original, and the trash entry of the replaced resource.
    func swapIn(
        _ staged: any StagedTree, of source: ResourcePath, moving origin: RenameIntent.Origin,
        to destination: Lookup, _ context: RequestContext
    ) throws(StoreError) -> (hidden: (any DetachedTree)?, kept: TrashEntry?) {
        let isReplacing = destination.info != nil
        var hidden: (any DetachedTree)?
        let kept = try reservingTrashIfPossible(replaced: destination, context) {
            (reservation) throws(StoreError) in
            let intent = RenameIntent(
                id: state.nextIntentID(), source: staged.path, destination: destination.path,
                moved: staged.info.identity, replaced: destination.info?.identity, isCopy: true,
                origin: origin, kept: reservation?.entry.location)
            let rows = try copiedRows(of: source, nil, in: staged, isMove: true)
            try intents.perform(intent, rows: rows, reservation: reservation?.entry) {
                () throws(StoreError) in
                try Self.publish(staged, isReplacing: isReplacing, reservation)
                do throws(StoreError) { hidden = try resources.detach(origin.path) } catch {
                    try staged.unpublish(isReplacing: isReplacing)
                    throw error
                }
            } undo: { () throws(StoreError) in
                try hidden?.restore()
                try staged.unpublish(isReplacing: isReplacing)
            }
            // The moved resource may be old, with no other copy, so its content must be kept when it is replaced.
            return recordReplaced(reservation, destination, nil, context)
        }
        return (hidden, kept)
    }

    /// Returns the changes that copy the property records of the source tree and bind them to the copies of their
    /// resources.
    ///
    /// Digests are not copied: they are bound to the entity tag of the source, which may also have changed while it was
    /// read. A copy gets a new creation date (RFC 4918 §15.1); a moved resource keeps its creation date.
    private func copiedRows(
        of source: ResourcePath, _ watch: RecordWatch?, in staged: any StagedTree, isMove: Bool
    ) throws(StoreError) -> [StateChange] {
        var rows: [StateChange] = []
        let left: [LiveProperty] = isMove ? [.checksums] : [.checksums, .creationdate]
        for (path, binding) in state.pathsWithProperties(under: source)
        where watch?.mayBeOfAnother(at: path) != true {
            let current = try resources.lookup(path, last: .notFollowed, wait: .allowed).info
            guard let current, binding.holds(for: current.identity) else { continue }
            guard let copy = try staged.identity(ofCopyOf: path) else { continue }
            guard let copyPath = path.rebased(from: source, to: staged.path) else { continue }
            rows.append(
                .copyProperties(
                    from: path, to: copyPath, binding: Binding(identity: copy), without: left.map(\.name),
                    limitBytes: isMove ? nil : propertyLimitBytes))
        }
        return rows
    }

    /// Renames a resource to a destination on the same volume, with its rows.
    /// - Parameter isRequested: see ``TrashCan/reservation(_:at:because:isRequested:_:)``.
    /// - Returns: the replaced resource, if it is hidden or in the trash.
    /// - Throws: `crossVolume`, with nothing changed, or another error.
    func rename(
        _ moved: ResourceInfo, from location: ResourceLocation, to destination: Lookup,
        isRequested: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> Replaced {
        let (source, target) = (location.path, destination.path)
        let hasRows = state.hasRows(atOrUnder: source) || state.hasRows(atOrUnder: target)
        if !hasRows, destination.info == nil,
            try resources.renameInOneStep(location, toFree: destination.location)
        {
            return .nothing
        }
        return try reservingTrashIfPossible(replaced: destination, isRequested: isRequested, context) {
            (reservation) throws(StoreError) in
            try rename(moved, from: location, to: destination, hasRows: hasRows, reservation, context)
        }
    }

    private func rename(
        _ moved: ResourceInfo, from location: ResourceLocation, to destination: Lookup, hasRows: Bool,
        _ reservation: TrashReservation?,
        _ context: RequestContext
    ) throws(StoreError) -> Replaced {
        let (source, target) = (location.path, destination.path)
        let intent = RenameIntent(
            id: state.nextIntentID(), source: source, destination: target, moved: moved.identity,
            replaced: destination.info?.identity, isCopy: false, kept: reservation?.entry.location)
        guard let old = destination.info else {
            try intents.perform(intent) { () throws(StoreError) in
                try resources.rename(source, toFree: target)
            } undo: { () throws(StoreError) in
                try resources.rename(target, toFree: source)
            }
            return .nothing
        }
        if reservation == nil, !hasRows && !old.isCollection && !moved.isCollection {
            try resources.rename(location, overContent: destination.location)
            _ = recordReplaced(nil, destination, draft(moved, context), context)
            return .nothing
        }
        // After the exchange and until the old resource is hidden, both names exist, and only the intent shows which
        // resource has which name.
        var replaced: (any DetachedTree)?
        try intents.perform(intent, reservation: reservation?.entry) { () throws(StoreError) in
            try resources.exchange(source, target)
            do throws(StoreError) {
                if let reservation {
                    try resources.rename(source, toFree: reservation.entry.location)
                } else {
                    replaced = try resources.detach(source)
                }
            } catch {
                try resources.exchange(source, target)
                throw error
            }
        } undo: { () throws(StoreError) in
            if let reservation { try resources.rename(reservation.entry.location, toFree: source) }
            try replaced?.restore()
            try resources.exchange(source, target)
        }
        if let kept = recordReplaced(reservation, destination, draft(moved, context), context) {
            return .kept(kept)
        }
        return replaced.map(Replaced.hidden) ?? .nothing
    }

    /// The resource that a rename replaced.
    enum Replaced: Sendable {
        /// No resource was replaced, or the replaced resource has already been removed.
        case nothing
        /// The replaced resource is hidden and must be removed.
        case hidden(any DetachedTree)
        /// The replaced resource is in the trash.
        case kept(TrashEntry)
    }
}

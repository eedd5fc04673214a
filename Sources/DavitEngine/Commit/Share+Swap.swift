internal import DavitHTTP
internal import DavitStore

/// Where a resource is renamed while rows move with it, two truths change one after the other. An intent,
/// committed first, says which rename was meant; after a crash ``Share/recover()`` sees from the identity at
/// the destination whether it happened, and finishes or forgets it.
extension Share {
    /// Swaps a finished copy in, with the properties of its source (RFC 4918 §9.8.2).
    /// - Returns: what the trash keeps of what was there.
    func swapIn(
        _ staged: any StagedTree, from source: ResourcePath, to destination: Lookup, _ context: RequestContext
    ) throws(WebDAVError) -> TrashEntry? {
        let old = destination.info
        return try storing { () throws(StoreError) in
            try keepingIfPossible(replaced: destination, context) { (keeping) throws(StoreError) in
                let rows = try copiedRows(of: source, in: staged, isMove: false)
                if keeping == nil, rows.isEmpty && !state.hasRows(atOrUnder: destination.path) {
                    guard let old else {
                        try staged.publish(isReplacing: false)
                        return nil
                    }
                    if !old.isCollection && !staged.info.isCollection {
                        try staged.publishOverContent()
                        return noted(nil, destination, staged.info.entityTag, context)
                    }
                }
                let intent = Intent(
                    id: state.nextIntentID(), source: staged.path, destination: destination.path,
                    moved: staged.info.identity, replaced: old?.identity, isCopy: true,
                    kept: keeping?.entry.place)
                try withIntent(intent, rows: rows, keeping: keeping?.entry) { () throws(StoreError) in
                    try Self.publish(staged, isReplacing: old != nil, keeping)
                } undo: { () throws(StoreError) in
                    try staged.unpublish(isReplacing: old != nil)
                }
                return noted(keeping, destination, staged.info.entityTag, context)
            }
        }
    }

    /// Runs a change with what it keeps, and without that if a rename into the trash would cross volumes, since parts of one
    /// can have quotas of their own, or is forbidden: to go elsewhere, a folder has to be writable itself.
    private func keepingIfPossible<R>(
        replaced destination: Lookup, isAsked: Bool = false, _ context: RequestContext,
        _ change: (Keeping?) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard let keeping = try keeping(replaced: destination, isAsked: isAsked, context) else {
            return try change(nil)
        }
        do throws(StoreError) { return try change(keeping) } catch {
            guard error == .crossVolume || error == .forbidden else { throw error }
            let result = try change(nil)
            reportUnkept(destination.path, error)
            return result
        }
    }

    private static func publish(
        _ staged: any StagedTree, isReplacing: Bool, _ keeping: Keeping?
    ) throws(StoreError) {
        guard let keeping else { return try staged.publish(isReplacing: isReplacing) }
        try staged.publish(keepingReplacedAt: keeping.trash)
    }

    /// The entry of what is in the trash now.
    /// - Parameter content: what stands at the destination now; nil if it has to be kept the next time.
    private func noted(
        _ keeping: Keeping?, _ destination: Lookup, _ content: EntityTag?, _ context: RequestContext
    ) -> TrashEntry? {
        guard let entry = keeping?.entry else {
            if let old = destination.info {
                versions.follow(destination.path, from: old.entityTag, to: content)
            }
            return nil
        }
        if !entry.isCollection {
            versions.note(entry.path, by: context.principal, now: context.now, content: content)
        }
        return entry
    }

    /// What of a moved resource need not be kept when it is replaced soon: that which a program has written under another
    /// name, just to rename it. What is older is nowhere else.
    private func draft(_ moved: ResourceInfo, _ context: RequestContext) -> EntityTag? {
        guard let limits = configuration.trash, let created = moved.created,
            context.now < created.adding(seconds: limits.versionSeconds)
        else { return nil }
        return moved.entityTag
    }

    /// Swaps the copy of a resource on another volume in, and takes the resource out of sight: one intent for
    /// both, because a crash between the two leaves the resource twice.
    ///
    /// - Parameters:
    ///   - source: what was copied.
    ///   - origin: what goes; a link, where what it leads to was copied.
    /// - Returns: the resource, out of sight, and what the trash keeps of what was there.
    func swapIn(
        _ staged: any StagedTree, of source: ResourcePath, moving origin: Intent.Origin,
        to destination: Lookup, _ context: RequestContext
    ) throws(WebDAVError) -> (hidden: (any DetachedTree)?, kept: TrashEntry?) {
        let isReplacing = destination.info != nil
        var hidden: (any DetachedTree)?
        let kept = try storing { () throws(StoreError) in
            try keepingIfPossible(replaced: destination, context) { (keeping) throws(StoreError) in
                let intent = Intent(
                    id: state.nextIntentID(), source: staged.path, destination: destination.path,
                    moved: staged.info.identity, replaced: destination.info?.identity, isCopy: true,
                    origin: origin, kept: keeping?.entry.place)
                let rows = try copiedRows(of: source, in: staged, isMove: true)
                try withIntent(intent, rows: rows, keeping: keeping?.entry) { () throws(StoreError) in
                    try Self.publish(staged, isReplacing: isReplacing, keeping)
                    do throws(StoreError) { hidden = try resources.detach(origin.path) } catch {
                        try staged.unpublish(isReplacing: isReplacing)
                        throw error
                    }
                } undo: { () throws(StoreError) in
                    try hidden?.restore()
                    try staged.unpublish(isReplacing: isReplacing)
                }
                // What was moved is perhaps old, and nowhere else.
                return noted(keeping, destination, nil, context)
            }
        }
        return (hidden, kept)
    }

    /// The records of the source's resources under the names their copies have now, bound to the copies.
    ///
    /// Digests stay behind: they hold for an entity tag, a copy has another, and nobody can say that its bytes were read
    /// while the source still had the old one. A copy is made now (RFC 4918 §15.1), what is moved was made when it was.
    private func copiedRows(
        of source: ResourcePath, in staged: any StagedTree, isMove: Bool
    ) throws(StoreError) -> [StateChange] {
        var rows: [StateChange] = []
        let left: [LiveProperty] = isMove ? [.checksums] : [.checksums, .creationdate]
        for (path, binding) in state.pathsWithProperties(under: source) {
            let current = try resources.lookup(path, last: .itself, wait: .allowed).info
            guard let current, binding.holds(for: current.identity) else { continue }
            guard let copy = try staged.identity(ofCopyOf: path) else { continue }
            guard let copyPath = path.rebased(from: source, to: staged.path) else { continue }
            rows.append(
                .copyProperties(
                    from: path, to: copyPath, binding: Binding(identity: copy), without: left.map(\.name),
                    limitBytes: isMove ? nil : configuration.propertyLimitBytes))
        }
        return rows
    }

    /// Renames a resource onto a destination on the same volume, with its rows.
    /// - Parameter isAsked: see ``keeping(_:at:because:isAsked:_:)``.
    /// - Returns: what was replaced, out of sight, or what the trash keeps of it.
    /// - Throws: `crossVolume` with nothing changed, and the rest.
    func rename(
        _ moved: ResourceInfo, from place: Place, to destination: Lookup, isAsked: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> Replaced {
        let (source, target) = (place.path, destination.path)
        let hasRows = state.hasRows(atOrUnder: source) || state.hasRows(atOrUnder: target)
        if !hasRows, destination.info == nil,
            try resources.renameInOneStep(place, toFree: destination.place)
        {
            return .nothing
        }
        return try keepingIfPossible(replaced: destination, isAsked: isAsked, context) {
            (keeping) throws(StoreError) in
            try rename(moved, from: place, to: destination, hasRows: hasRows, keeping, context)
        }
    }

    private func rename(
        _ moved: ResourceInfo, from place: Place, to destination: Lookup, hasRows: Bool, _ keeping: Keeping?,
        _ context: RequestContext
    ) throws(StoreError) -> Replaced {
        let (source, target) = (place.path, destination.path)
        let intent = Intent(
            id: state.nextIntentID(), source: source, destination: target, moved: moved.identity,
            replaced: destination.info?.identity, isCopy: false, kept: keeping?.entry.place)
        guard let old = destination.info else {
            try withIntent(intent, rows: []) { () throws(StoreError) in
                try resources.rename(source, toFree: target)
            } undo: { () throws(StoreError) in
                try resources.rename(target, toFree: source)
            }
            return .nothing
        }
        if keeping == nil, !hasRows && !old.isCollection && !moved.isCollection {
            try resources.rename(place, overContent: destination.place)
            _ = noted(nil, destination, draft(moved, context), context)
            return .nothing
        }
        // Both names exist until the replaced one is out of sight: only the intent says which is which.
        var replaced: (any DetachedTree)?
        try withIntent(intent, rows: [], keeping: keeping?.entry) { () throws(StoreError) in
            try resources.exchange(source, target)
            do throws(StoreError) {
                if let keeping {
                    try resources.rename(source, toFree: keeping.entry.place)
                } else {
                    replaced = try resources.detach(source)
                }
            } catch {
                try resources.exchange(source, target)
                throw error
            }
        } undo: { () throws(StoreError) in
            if let keeping { try resources.rename(keeping.entry.place, toFree: source) }
            try replaced?.restore()
            try resources.exchange(source, target)
        }
        if let kept = noted(keeping, destination, draft(moved, context), context) { return .kept(kept) }
        return replaced.map(Replaced.hidden) ?? .nothing
    }

    /// What has become of what a rename replaced.
    enum Replaced: Sendable {
        /// There was nothing, or it is gone.
        case nothing
        /// Out of sight, to be removed.
        case hidden(any DetachedTree)
        /// In the trash.
        case kept(TrashEntry)
    }

    /// Commits the intent, swaps, commits what follows from it. Where the second commit fails the swap is
    /// undone: neither side has changed.
    ///
    /// - Parameter entry: of what the swap puts into the trash.
    func withIntent(
        _ intent: Intent, rows: [StateChange], keeping entry: TrashEntry? = nil,
        _ swap: () throws(StoreError) -> Void, undo: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try record([.putIntent(intent)] + rows + (entry.map { [.putTrash($0)] } ?? []))
        do throws(StoreError) { try swap() } catch {
            if (try? resources.identity(at: intent.destination)) == intent.moved {
                // Done, not known to be on the disk, and not undone either: the rows wait with the intent.
                report("a rename that could not be synced stands; the next start finishes it: \(error)")
            } else {
                forget(intent)
                if let entry { forget(entry) }
            }
            throw error
        }
        do throws(StoreError) {
            try record(intent.rowsAfterwards)
        } catch {
            do throws(StoreError) {
                try undo()
                forget(intent)
                if let entry { forget(entry) }
            } catch let second {
                report("a rename could not be undone; the next start finishes it: \(second)")
            }
            throw error
        }
    }

    func record(_ changes: [StateChange]) throws(StoreError) {
        do throws(StateError) { try state.commit(changes) } catch { throw StoreError(error) }
    }

    /// Drops an intent whose rename did not happen, and the rows a copy had been given.
    func forget(_ intent: Intent) {
        let rows: [StateChange] = intent.isCopy ? [.removeRows(under: intent.source)] : []
        let changes = rows + [.dropIntent(id: intent.id)]
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("an intent could not be dropped yet: \(error)")
        }
    }
}

extension Intent {
    /// What follows for the rows once the rename has happened, or the content is replaced; ends the intent.
    var rowsAfterwards: [StateChange] {
        if let languageChange { return [languageChange.row(at: destination), .dropIntent(id: id)] }
        let keep = kept.map { [StateChange.moveRows(from: destination, to: $0)] } ?? []
        let move = StateChange.moveRows(from: source, to: destination)
        return keep + [move] + (origin.map { [.removeRows(under: $0.path)] } ?? []) + [.dropIntent(id: id)]
    }
}

internal import DavitHTTP
internal import DavitStore

/// Where a resource is renamed while rows move with it, two truths change one after the other. An intent,
/// committed first, says which rename was meant; after a crash ``Share/recover()`` sees from the identity at
/// the destination whether it happened, and finishes or forgets it.
extension Share {
    /// Swaps a finished copy in, with the properties of its source (RFC 4918 §9.8.2).
    func swapIn(
        _ staged: any StagedTree, from source: ResourcePath, to destination: Lookup
    ) throws(WebDAVError) {
        let old = destination.info
        try storing { () throws(StoreError) in
            let rows = try copiedRows(of: source, in: staged, isMove: false)
            if rows.isEmpty && !state.hasRows(atOrUnder: destination.path) {
                guard let old else { return try staged.publish(isReplacing: false) }
                if !old.isCollection && !staged.info.isCollection {
                    return try staged.publishOverContent()
                }
            }
            let intent = Intent(
                id: state.nextIntentID(), source: staged.path, destination: destination.path,
                moved: staged.info.identity, replaced: old?.identity, isCopy: true)
            try withIntent(intent, rows: rows) { () throws(StoreError) in
                try staged.publish(isReplacing: old != nil)
            } undo: { () throws(StoreError) in
                try staged.unpublish(isReplacing: old != nil)
            }
        }
    }

    /// Swaps the copy of a resource on another volume in, and takes the resource out of sight: one intent for
    /// both, because a crash between the two leaves the resource twice.
    ///
    /// - Parameters:
    ///   - source: what was copied.
    ///   - origin: what goes; a link, where what it leads to was copied.
    /// - Returns: the resource, out of sight.
    func swapIn(
        _ staged: any StagedTree, of source: ResourcePath, moving origin: Intent.Origin,
        to destination: Lookup
    ) throws(WebDAVError) -> (any DetachedTree)? {
        let isReplacing = destination.info != nil
        var hidden: (any DetachedTree)?
        try storing { () throws(StoreError) in
            let intent = Intent(
                id: state.nextIntentID(), source: staged.path, destination: destination.path,
                moved: staged.info.identity, replaced: destination.info?.identity, isCopy: true,
                origin: origin)
            try withIntent(intent, rows: try copiedRows(of: source, in: staged, isMove: true)) {
                () throws(StoreError) in
                try staged.publish(isReplacing: isReplacing)
                do throws(StoreError) { hidden = try resources.detach(origin.path) } catch {
                    try staged.unpublish(isReplacing: isReplacing)
                    throw error
                }
            } undo: { () throws(StoreError) in
                try hidden?.restore()
                try staged.unpublish(isReplacing: isReplacing)
            }
        }
        return hidden
    }

    /// The records of the source's resources under the names their copies have now, bound to the copies.
    ///
    /// Digests stay behind: they hold for an entity tag, a copy has another, and nobody can say that its bytes were read
    /// while the source still had the old one. A copy is made now (RFC 4918 §15.1), what is moved was made when it was.
    private func copiedRows(
        of source: ResourcePath, in staged: any StagedTree, isMove: Bool
    ) throws(StoreError) -> [StateChange] {
        var rows: [StateChange] = []
        for (path, record) in try records(under: source) {
            let current = try resources.lookup(path, last: .itself, wait: .allowed).info
            guard let current, record.binding.holds(for: current.identity) else { continue }
            guard let copy = try staged.identity(ofCopyOf: path) else { continue }
            guard let copyPath = path.rebased(from: source, to: staged.path) else { continue }
            let properties = record.properties.filter { property in
                guard let live = LiveProperty(property.name) else { return true }
                return isMove && live == .creationdate
            }
            if properties.isEmpty { continue }
            rows.append(
                .putRecord(
                    copyPath, PropertyRecord(binding: Binding(identity: copy), properties: properties)))
        }
        return rows
    }

    /// Renames a resource onto a destination on the same volume, with its rows.
    /// - Returns: what was replaced, out of sight.
    /// - Throws: `crossVolume` with nothing changed, and the rest.
    func rename(
        _ moved: ResourceInfo, from place: Place, to destination: Lookup
    ) throws(StoreError) -> (any DetachedTree)? {
        let (source, target) = (place.path, destination.path)
        let hasRows = state.hasRows(atOrUnder: source) || state.hasRows(atOrUnder: target)
        if !hasRows, destination.info == nil,
            try resources.renameInOneStep(place, toFree: destination.place)
        {
            return nil
        }
        let intent = Intent(
            id: state.nextIntentID(), source: source, destination: target, moved: moved.identity,
            replaced: destination.info?.identity, isCopy: false)
        guard let old = destination.info else {
            try withIntent(intent, rows: []) { () throws(StoreError) in
                try resources.rename(source, toFree: target)
            } undo: { () throws(StoreError) in
                try resources.rename(target, toFree: source)
            }
            return nil
        }
        if !hasRows && !old.isCollection && !moved.isCollection {
            try resources.rename(place, overContent: destination.place)
            return nil
        }
        // Both names exist until the replaced one is out of sight: only the intent says which is which.
        var replaced: (any DetachedTree)?
        try withIntent(intent, rows: []) { () throws(StoreError) in
            try resources.exchange(source, target)
            do throws(StoreError) { replaced = try resources.detach(source) } catch {
                try resources.exchange(source, target)
                throw error
            }
        } undo: { () throws(StoreError) in
            try replaced?.restore()
            try resources.exchange(source, target)
        }
        return replaced
    }

    /// Commits the intent, swaps, commits what follows from it. Where the second commit fails the swap is
    /// undone: neither side has changed.
    private func withIntent(
        _ intent: Intent, rows: [StateChange], _ swap: () throws(StoreError) -> Void,
        undo: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try record([.putIntent(intent)] + rows)
        do throws(StoreError) { try swap() } catch {
            if (try? resources.identity(at: intent.destination)) == intent.moved {
                // Done, not known to be on the disk, and not undone either: the rows wait with the intent.
                report("a rename that could not be synced stands; the next start finishes it: \(error)")
            } else {
                forget(intent)
            }
            throw error
        }
        do throws(StoreError) {
            try record(intent.rowsAfterwards)
        } catch {
            do throws(StoreError) {
                try undo()
                forget(intent)
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
    /// What follows for the rows once the rename has happened; ends the intent.
    var rowsAfterwards: [StateChange] {
        let move = StateChange.moveRows(from: source, to: destination)
        return [move] + (origin.map { [.removeRows(under: $0.path)] } ?? []) + [.dropIntent(id: id)]
    }
}

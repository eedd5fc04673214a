internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A trash entry that a change is about to create.
struct TrashReservation: Sendable {
    let entry: TrashEntry
    let trash: TrashLocation
}

/// A resource is moved to the trash by a rename. Its entry is committed before the rename, so that a single
/// commit is enough: after a crash, an entry whose location is empty or holds another file records a rename
/// that did not happen, and the next start drops the entry (``Share/recoverTrash()``). If rows move as well,
/// an intent identifies the rename, as for MOVE.
extension Share {
    /// Returns the trash entry for a resource that a change removes; nil if it is removed permanently.
    ///
    /// - Parameters:
    ///   - info: The resource to be removed.
    ///   - location: Its current location.
    ///   - isAsked: Whether the user has confirmed the removal; the resource is then kept even if it is empty
    ///     or a recent version exists.
    func reservation(
        _ info: ResourceInfo, at location: ResourceLocation, because reason: TrashEntry.Reason,
        isAsked: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> TrashReservation? {
        guard let limits = configuration.trash, !MacMetadataName.isSidecar(location.path.name) else {
            return nil
        }
        if reason == .overwritten, !info.isCollection, !isAsked {
            // An empty file is usually a name reserved by LOCK or by a client that first creates an empty
            // file.
            if info.length == 0 { return nil }
            let hasRecent = versions.hasRecent(
                of: info.entityTag, at: location.path, by: context.principal, limits, now: context.now)
            if hasRecent { return nil }
        }
        let id = TrashEntry.randomID()
        guard let trash = try trashLocation(id, for: location, volume: info.volume) else { return nil }
        let entry = TrashEntry(
            number: state.nextTrashNumber(), id: id, path: location.path, location: trash.location.path,
            identity: info.identity, deleted: context.now, principal: context.principal,
            length: info.isCollection ? nil : info.length, isCollection: info.isCollection, reason: reason)
        return TrashReservation(entry: entry, trash: trash)
    }

    /// Returns the location for an entry in the trash; nil if the trash is unavailable: a change that would
    /// be possible without a trash must not fail because of it.
    private func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        do throws(StoreError) {
            return try resources.trashLocation(id, for: location, volume: volume)
        } catch {
            switch error {
            case .forbidden, .outOfSpace, .quotaExceeded, .failed, .missingAncestor, .wrongKind, .notFound,
                .alreadyExists, .crossVolume, .loop, .invalidName, .nameTooLong, .tooDeep:
                reportUnkept(location.path, error)
                return nil
            case .wouldBlock, .busy: throw error
            }
        }
    }

    /// Same as the other overload, for the resource at a destination; nil if there is none.
    func reservation(
        replaced destination: Lookup, isAsked: Bool = false, _ context: RequestContext
    ) throws(StoreError) -> TrashReservation? {
        guard let info = destination.info else { return nil }
        return try reservation(
            info, at: destination.location, because: .overwritten, isAsked: isAsked, context)
    }

    /// Logs that a resource is removed permanently because the trash is unavailable. At most once an hour.
    func reportUnkept(_ path: ResourcePath, _ error: StoreError) {
        guard trashMaintenance.isFailureDue(now: now()) else { return }
        report(
            "moving to the trash failed; removing permanently: \(path): \(error)"
        )
    }

    /// Moves a resource to the trash with all its members and their properties. Drops its locks.
    ///
    /// - Returns: nil, with nothing changed, if the trash cannot keep the resource; the caller must then
    ///   remove it.
    func moveToTrash(
        _ info: ResourceInfo, at location: ResourceLocation, _ context: RequestContext
    ) throws(StoreError) -> TrashEntry? {
        guard let reservation = try reservation(info, at: location, because: .deleted, context) else {
            return nil
        }
        do throws(StoreError) {
            try moveToTrash(reservation, from: location)
        } catch {
            switch error {
            // The trash cannot be reached by a rename, there is no space for the entry, or a permission is
            // missing that a removal does not require.
            case .crossVolume, .outOfSpace, .quotaExceeded, .forbidden:
                reportUnkept(location.path, error)
                return nil
            default: throw error
            }
        }
        return reservation.entry
    }

    private func moveToTrash(_ reservation: TrashReservation, from location: ResourceLocation)
        throws(StoreError)
    {
        let (entry, trash) = (reservation.entry, reservation.trash.location)
        guard state.hasRows(atOrUnder: location.path) else {
            try record([.putTrash(entry)])
            do throws(StoreError) { try rename(location, into: trash) } catch {
                forget(entry)
                throw error
            }
            return
        }
        let intent = RenameIntent(
            id: state.nextIntentID(), source: location.path, destination: trash.path, moved: entry.identity,
            replaced: nil, isCopy: false)
        try withIntent(intent, rows: [], reservation: entry) { () throws(StoreError) in
            try rename(location, into: trash)
        } undo: { () throws(StoreError) in
            try resources.rename(trash.path, toFree: location.path)
        }
    }

    private func rename(_ location: ResourceLocation, into trash: ResourceLocation) throws(StoreError) {
        if try resources.renameInOneStep(location, toFree: trash) { return }
        try resources.rename(location.path, toFree: trash.path)
    }

    /// Publishes sealed content at its target. Moves the replaced content to the trash, if the trash keeps
    /// it.
    ///
    /// The resource retains its properties; the kept version gets a copy of them.
    /// - Parameters:
    ///   - old: The resource at the target; nil if there is none.
    ///   - new: The sealed content.
    ///   - language: The change of `getcontentlanguage`; nil if it is unchanged.
    func publish(
        _ staged: any StagedContent, at target: Lookup, over old: ResourceInfo?, as new: ResourceInfo,
        language: LanguageChange?, _ context: RequestContext
    ) throws(StoreError) -> TrashEntry? {
        let path = target.path
        let languageUpdate = language.map { LanguageUpdate($0, at: path, over: old, as: new, in: self) }
        let rowsBefore = binding(path, from: old, to: new) + (languageUpdate?.rowsBefore ?? [])
        guard let old,
            let reservation = try reservation(old, at: target.location, because: .overwritten, context)
        else {
            if !rowsBefore.isEmpty { try record(rowsBefore) }
            try publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(isReplacing: old != nil)
            }
            if let old { versions.follow(path, from: old.entityTag, to: new.entityTag) }
            return nil
        }
        let entry = reservation.entry
        var rows: [StateChange] = [.putTrash(entry)]
        if state.hasRows(at: path) { rows += try properties(of: entry) }
        try record(rows + rowsBefore)
        let isKept: Bool
        do throws(StoreError) {
            isKept = try publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(keepingReplacedAt: reservation.trash)
            }
        } catch {
            forget(entry)
            throw error
        }
        if isKept {
            versions.record(path, by: context.principal, now: context.now, content: new.entityTag)
            return entry
        }
        reportUnkept(path, .crossVolume)
        forget(entry)
        return nil
    }

    /// Returns the changes that copy the dead properties of content to its kept version.
    private func properties(of entry: TrashEntry) throws(StoreError) -> [StateChange] {
        let stored: [StoredProperty]
        do throws(StateError) {
            stored = try state.properties(at: entry.path, identity: entry.identity)
        } catch {
            throw StoreError(error)
        }
        if stored.isEmpty { return [] }
        return [
            .putRecord(
                entry.location, PropertyRecord(binding: Binding(identity: entry.identity), properties: stored)
            )
        ]
    }

    /// Drops an entry whose file is not in the trash, together with its rows.
    func forget(_ entry: TrashEntry) {
        let rows: [StateChange] =
            state.hasRows(atOrUnder: entry.location) ? [.removeRows(under: entry.location)] : []
        let changes = rows + [.dropTrash(entry)]
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("dropping a trash entry failed; retrying later: \(error)")
        }
    }
}

extension HTTPResponse {
    /// Adds the ids of trash entries to the response.
    mutating func addRestoreHint(kept entries: [TrashEntry]) {
        if entries.isEmpty { return }
        // A collection removed member by member may have many entries; send as many as fit into a field.
        let ids = entries.prefix(32).map(\.id).joined(separator: ", ")
        fields.append(.davitTrash, ids)
    }

    /// Adds the id of a trash entry, if any, to the response.
    mutating func addRestoreHint(kept entry: TrashEntry?) { addRestoreHint(kept: entry.map { [$0] } ?? []) }
}

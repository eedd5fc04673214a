internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A trash entry that a change is about to create.
struct Keeping: Sendable {
    let entry: TrashEntry
    let trash: TrashPlace
}

/// A resource is moved to the trash by a rename. Its entry is committed before the rename, so that a single
/// commit is enough: after a crash, an entry whose place is empty or holds another file records a rename that
/// did not happen, and the next start drops it (``Share/recoverTrash()``). If rows move as well, an intent
/// identifies the rename, as for MOVE.
extension Share {
    /// Returns the trash entry for a resource that a change removes; nil if it is removed permanently.
    ///
    /// - Parameters:
    ///   - info: The resource to be removed.
    ///   - place: Its current location.
    ///   - isAsked: Whether the user has confirmed the removal; the resource is then kept even if it is empty
    ///     or a recent version exists.
    func keeping(
        _ info: ResourceInfo, at place: Place, because reason: TrashEntry.Reason, isAsked: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> Keeping? {
        guard let limits = configuration.trash, !LitterName.isCompanion(place.path.name) else { return nil }
        if reason == .overwritten, !info.isCollection, !isAsked {
            // An empty file is usually a name reserved by LOCK or by a client that first creates an empty
            // file.
            if info.length == 0 { return nil }
            let hasRecent = versions.hasRecent(
                of: info.entityTag, at: place.path, by: context.principal, limits, now: context.now)
            if hasRecent { return nil }
        }
        let id = TrashEntry.randomID()
        guard let trash = try trashPlace(id, for: place, volume: info.volume) else { return nil }
        let entry = TrashEntry(
            number: state.nextTrashNumber(), id: id, path: place.path, place: trash.place.path,
            identity: info.identity, deleted: context.now, principal: context.principal,
            length: info.isCollection ? nil : info.length, isCollection: info.isCollection, reason: reason)
        return Keeping(entry: entry, trash: trash)
    }

    /// A change that is possible without a trash must not fail because the trash is unavailable.
    private func trashPlace(
        _ id: String, for place: Place, volume: UInt64
    ) throws(StoreError) -> TrashPlace? {
        do throws(StoreError) {
            return try resources.trashPlace(id, for: place, volume: volume)
        } catch {
            switch error {
            case .forbidden, .outOfSpace, .quotaExceeded, .failed, .missingAncestor, .wrongKind, .notFound,
                .alreadyExists, .crossVolume, .loop, .invalidName, .nameTooLong, .tooDeep:
                reportUnkept(place.path, error)
                return nil
            case .wouldBlock, .busy: throw error
            }
        }
    }

    /// Same as the other overload, for the resource at a destination; nil if there is none.
    func keeping(
        replaced destination: Lookup, isAsked: Bool = false, _ context: RequestContext
    ) throws(StoreError) -> Keeping? {
        guard let info = destination.info else { return nil }
        return try keeping(info, at: destination.place, because: .overwritten, isAsked: isAsked, context)
    }

    /// Logs that a resource is removed permanently because the trash is unavailable. At most once an hour.
    func reportUnkept(_ path: ResourcePath, _ error: StoreError) {
        guard trashCare.isFailureDue(now: now()) else { return }
        report(
            "moving to the trash failed; removing permanently: \(path): \(error)"
        )
    }

    /// Moves a resource to the trash with all its members and their properties. Drops its locks.
    ///
    /// - Returns: nil if it cannot be kept. Nothing has been changed then, and the caller must remove it.
    func throwAway(
        _ info: ResourceInfo, at place: Place, _ context: RequestContext
    ) throws(StoreError) -> TrashEntry? {
        guard let keeping = try keeping(info, at: place, because: .deleted, context) else { return nil }
        do throws(StoreError) {
            try throwAway(keeping, from: place)
        } catch {
            switch error {
            // A part of the volume to which a rename is not possible, no space for the entry, or no
            // permission for a folder that a removal would not need.
            case .crossVolume, .outOfSpace, .quotaExceeded, .forbidden:
                reportUnkept(place.path, error)
                return nil
            default: throw error
            }
        }
        return keeping.entry
    }

    private func throwAway(_ keeping: Keeping, from place: Place) throws(StoreError) {
        let (entry, trash) = (keeping.entry, keeping.trash.place)
        guard state.hasRows(atOrUnder: place.path) else {
            try record([.putTrash(entry)])
            do throws(StoreError) { try rename(place, into: trash) } catch {
                forget(entry)
                throw error
            }
            return
        }
        let intent = Intent(
            id: state.nextIntentID(), source: place.path, destination: trash.path, moved: entry.identity,
            replaced: nil, isCopy: false)
        try withIntent(intent, rows: [], keeping: entry) { () throws(StoreError) in
            try rename(place, into: trash)
        } undo: { () throws(StoreError) in
            try resources.rename(trash.path, toFree: place.path)
        }
    }

    private func rename(_ place: Place, into trash: Place) throws(StoreError) {
        if try resources.renameInOneStep(place, toFree: trash) { return }
        try resources.rename(place.path, toFree: trash.path)
    }

    /// Publishes sealed content at its target. The trash keeps the replaced content, if it keeps such
    /// versions.
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
        guard let old, let keeping = try keeping(old, at: target.place, because: .overwritten, context) else {
            if !rowsBefore.isEmpty { try record(rowsBefore) }
            try publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(isReplacing: old != nil)
            }
            if let old { versions.follow(path, from: old.entityTag, to: new.entityTag) }
            return nil
        }
        let entry = keeping.entry
        var rows: [StateChange] = [.putTrash(entry)]
        if state.hasRows(at: path) { rows += try properties(of: entry) }
        try record(rows + rowsBefore)
        let isKept: Bool
        do throws(StoreError) {
            isKept = try publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(keepingReplacedAt: keeping.trash)
            }
        } catch {
            forget(entry)
            throw error
        }
        if isKept {
            versions.note(path, by: context.principal, now: context.now, content: new.entityTag)
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
                entry.place, PropertyRecord(binding: Binding(identity: entry.identity), properties: stored))
        ]
    }

    /// Drops an entry whose file is not in the trash, together with its rows.
    func forget(_ entry: TrashEntry) {
        let rows: [StateChange] =
            state.hasRows(atOrUnder: entry.place) ? [.removeRows(under: entry.place)] : []
        let changes = rows + [.dropTrash(entry)]
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("dropping a trash entry failed; retrying later: \(error)")
        }
    }
}

extension HTTPResponse {
    /// Adds the ids of trash entries to the response.
    mutating func tell(kept entries: [TrashEntry]) {
        if entries.isEmpty { return }
        // A collection removed member by member may have many entries; send as many as fit into a field.
        let ids = entries.prefix(32).map(\.id).joined(separator: ", ")
        fields.append(.davitTrash, ids)
    }

    /// Adds the id of a trash entry, if any, to the response.
    mutating func tell(kept entry: TrashEntry?) { tell(kept: entry.map { [$0] } ?? []) }
}

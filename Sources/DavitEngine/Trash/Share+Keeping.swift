internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What a change is about to put into the trash.
struct Keeping: Sendable {
    let entry: TrashEntry
    let trash: TrashPlace
}

/// A resource goes into the trash by a rename. Its entry is committed before that, so that one commit is enough: an
/// entry at whose place something else stands, or nothing, says what did not happen, and the next start drops it
/// (``Share/recoverTrash()``). Where rows move as well, an intent says which rename was meant, as for MOVE.
extension Share {
    /// What the trash will keep of something that a change takes away; nil if that goes for good.
    ///
    /// - Parameters:
    ///   - info: of what goes.
    ///   - place: where it stands.
    ///   - isAsked: somebody was asked, and has said that it shall go: it may be all that there is of it.
    func keeping(
        _ info: ResourceInfo, at place: Place, because reason: TrashEntry.Reason, isAsked: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> Keeping? {
        guard let limits = configuration.trash, !LitterName.isCompanion(place.path.name) else { return nil }
        if reason == .overwritten, !info.isCollection, !isAsked {
            // A name that was reserved, by LOCK or by a client that makes empty files first.
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

    /// A change that was possible without a trash does not fail for want of one.
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

    /// The same for what stands at a destination; nil if nothing does.
    func keeping(
        replaced destination: Lookup, isAsked: Bool = false, _ context: RequestContext
    ) throws(StoreError) -> Keeping? {
        guard let info = destination.info else { return nil }
        return try keeping(info, at: destination.place, because: .overwritten, isAsked: isAsked, context)
    }

    /// Says that something goes for good which would be kept if that were possible.
    func reportUnkept(_ path: ResourcePath, _ error: StoreError) {
        guard trashCare.isFailureDue(now: now()) else { return }
        report(
            "something goes for good, because it cannot be put into the trash of its volume: \(path): \(error)"
        )
    }

    /// Puts a resource into the trash with everything in it, its properties too. Its locks are dropped.
    ///
    /// - Returns: nil, and nothing was changed, if it cannot be kept: it has to be removed.
    func throwAway(
        _ info: ResourceInfo, at place: Place, _ context: RequestContext
    ) throws(StoreError) -> TrashEntry? {
        guard let keeping = try keeping(info, at: place, because: .deleted, context) else { return nil }
        do throws(StoreError) {
            try throwAway(keeping, from: place)
        } catch {
            switch error {
            // A part of the volume to which nothing can be renamed, no room for the entry, or no right to a folder that
            // a removal does not need.
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

    /// Gives sealed content its name, over what has it now, which the trash keeps if it keeps such things.
    ///
    /// The resource keeps its properties; what is kept has them, too.
    /// - Parameters:
    ///   - old: what stands at the target; nil if nothing does.
    ///   - new: what the content will be.
    ///   - language: what becomes of `getcontentlanguage`; nil if it stays.
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

    /// The dead properties of content for the version of it that is kept.
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

    /// Drops an entry of what is not in the trash, with the rows that it was given.
    func forget(_ entry: TrashEntry) {
        let rows: [StateChange] =
            state.hasRows(atOrUnder: entry.place) ? [.removeRows(under: entry.place)] : []
        let changes = rows + [.dropTrash(entry)]
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("an entry of the trash could not be dropped yet: \(error)")
        }
    }
}

extension HTTPResponse {
    /// Says what the trash keeps of what a change has taken away.
    mutating func tell(kept entries: [TrashEntry]) {
        if entries.isEmpty { return }
        // Of a collection that went member by member, as many as a field can take.
        let ids = entries.prefix(32).map(\.id).joined(separator: ", ")
        fields.append(.davitTrash, ids)
    }

    /// The same for one entry, or none.
    mutating func tell(kept entry: TrashEntry?) { tell(kept: entry.map { [$0] } ?? []) }
}

internal import DavitAccess
internal import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// Moves resources to the trash of a share.
///
/// A resource is moved to the trash by a rename. Its entry is committed before the rename, so that a single
/// commit is enough: after a crash, an entry whose location is empty or holds another file records a rename
/// that did not happen, and the next start drops the entry (``TrashRecovery/recover()``). If rows move as well,
/// an intent identifies the rename, as for MOVE.
package final class TrashCan: Sendable {
    /// Nil if the trash is disabled.
    let limits: TrashLimits?
    let versions = RecentVersions()
    private let resources: any ResourceStore
    private let stored: any ResourceStore
    private let rules: ShareRules?
    private let state: any ShareState
    private let rows: ResourceRows
    private let intents: RenameIntents
    private let ruleMoves: RuleMoves
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (String) -> Void
    /// Limits the log entries to one an hour, because a persistent failure can affect every change.
    private let failureReports = HourlyTimer()

    /// - Parameter stored: all stored resources, including those that `rules` hide.
    init(
        _ limits: TrashLimits?, _ resources: any ResourceStore, _ stored: any ResourceStore,
        _ rules: ShareRules?, _ state: any ShareState, _ rows: ResourceRows, _ intents: RenameIntents,
        _ ruleMoves: RuleMoves, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.limits = limits
        self.resources = resources
        self.stored = stored
        self.rules = rules
        self.state = state
        self.rows = rows
        self.intents = intents
        self.ruleMoves = ruleMoves
        self.now = now
        self.report = report
    }

    // MARK: Entries

    /// Whether trash entries from this path are visible: paths hidden by the rules are hidden in the trash
    /// too.
    func shows(_ path: ResourcePath) -> Bool { rules?.refuses(in: path) != true }

    /// Returns at most `limit` entries with a number greater than `number`, oldest first. May block.
    package func entries(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try state.trash(after: number, limit: limit)
    }

    /// Returns the entry with an id; nil if there is none. May block.
    package func entry(_ id: String) throws(StateError) -> TrashEntry? { try state.trashEntry(id) }

    /// Hides the file of an entry and drops the entry. If a crash prevents the removal of the file, the file
    /// is removed later as a leftover.
    ///
    /// The caller must hold the path lock on the file's location in the trash.
    /// - Throws: `notFound`, with nothing changed, if the volume of the entry is not mounted: the entry and the rules for it
    ///   apply to the file when it is mounted again.
    func takeOut(_ entry: TrashEntry) throws(StoreError) -> (any DetachedTree)? {
        let exists = try resources.identity(at: entry.location) == entry.identity
        if !exists, try resources.isTrashUnavailable(of: entry) { throw .notFound }
        let tree = exists ? try stored.detach(entry.location) : nil
        do throws(StoreError) {
            try rows.commit([.removeRows(under: entry.location), .dropTrash(entry)])
        } catch {
            try? tree?.restore()
            throw error
        }
        ruleMoves.forget(entry)
        versions.forget(entry.path)
        return tree
    }

    /// Returns the path locks needed to change an entry: exclusive for its location in the trash, shared for
    /// its original path. An entry is committed before its file is moved; until then, the change that moves
    /// the file holds a lock on the original path.
    static func pathLockRequests(on entry: TrashEntry) -> [PathLockRequest] {
        [
            PathLockRequest(path: entry.location, mode: .exclusive),
            PathLockRequest(path: entry.path, mode: .shared),
        ]
    }

    // MARK: Moving to the trash

    /// The maximum size in bytes of content that can be removed quickly enough on an event loop.
    private static let inlineCommitBytes: Int64 = 1 << 20

    /// Whether replacing or removing a name is quick if the volume's metadata is in memory: the old resource
    /// is not a collection, not large, and has no rows.
    func commitsInline(replacing old: Lookup) -> Bool {
        guard let info = old.info else { return !state.hasRows(atOrUnder: old.path) }
        // Moving a resource to the trash commits an entry.
        if limits != nil { return false }
        return !info.isCollection && info.length <= Self.inlineCommitBytes
            && !state.hasRows(atOrUnder: old.path)
    }

    /// Returns the trash entry for a resource that a change removes; nil if it is removed permanently.
    ///
    /// - Parameters:
    ///   - info: The resource to be removed.
    ///   - location: Its current location.
    ///   - isRequested: Whether the user explicitly requested the replacement; the resource is then kept even if
    ///     it is empty or a recent version exists.
    func reservation(
        _ info: ResourceInfo, at location: ResourceLocation, because reason: TrashEntry.Reason,
        isRequested: Bool = false,
        _ context: RequestContext
    ) throws(StoreError) -> TrashReservation? {
        guard let limits, !MacMetadataName.isSidecar(location.path.name) else {
            return nil
        }
        // All other entries would have to make room for it.
        if !info.isCollection, let limit = limits.bytes, info.length > limit { return nil }
        if reason == .overwritten, !info.isCollection, !isRequested {
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
            case .wouldBlock, .busy, .superseded, .rightsChanged: throw error
            }
        }
    }

    /// Same as the other overload, for the resource that a change replaces at its destination; nil if the
    /// destination is free.
    func reservation(
        replaced destination: Lookup, isRequested: Bool = false, _ context: RequestContext
    ) throws(StoreError) -> TrashReservation? {
        guard let info = destination.info else { return nil }
        return try reservation(
            info, at: destination.location, because: .overwritten, isRequested: isRequested, context)
    }

    /// Logs, at most once an hour, that a resource is removed permanently because the trash is unavailable.
    func reportUnkept(_ path: ResourcePath, _ error: StoreError) {
        guard failureReports.isDue(now: now()) else { return }
        report("moving to the trash failed; removing permanently: \(path): \(error.text)")
    }

    /// Moves a resource to the trash with all its members, their properties and access rules. Drops its locks.
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
            try ruleMoves.perform(
                from: .folder(location.path), to: .trash(id: reservation.entry.id)
            ) { () throws(StoreError) in
                try moveToTrash(reservation, from: location)
            }
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
            try rows.commit([.putTrash(entry)])
            do throws(StoreError) { try rename(location, into: trash) } catch {
                rows.forget(entry)
                throw error
            }
            return
        }
        let intent = RenameIntent(
            id: state.nextIntentID(), source: location.path, destination: trash.path, moved: entry.identity,
            replaced: nil, isCopy: false)
        try intents.perform(intent, reservation: entry) { () throws(StoreError) in
            try rename(location, into: trash)
        } undo: { () throws(StoreError) in
            try resources.rename(trash.path, toFree: location.path)
        }
    }

    private func rename(_ location: ResourceLocation, into trash: ResourceLocation) throws(StoreError) {
        if try resources.renameInOneStep(location, toFree: trash) { return }
        try resources.rename(location.path, toFree: trash.path)
    }
}

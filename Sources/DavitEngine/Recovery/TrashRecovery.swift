internal import DavitHTTP
internal import DavitStore

/// Makes the trash entries consistent with the files in the trash.
package final class TrashRecovery: Sendable {
    private let resources: any ResourceStore
    private let stored: any ResourceStore
    private let state: any ShareState
    private let rows: ResourceRows
    private let maintenance: TrashMaintenance
    private let pathLocks: PathLocks
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (String) -> Void

    /// - Parameter stored: all stored resources, including those that rules hide.
    init(
        _ resources: any ResourceStore, _ stored: any ResourceStore, _ state: any ShareState,
        _ rows: ResourceRows, _ maintenance: TrashMaintenance, _ pathLocks: PathLocks,
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void
    ) {
        self.resources = resources
        self.stored = stored
        self.state = state
        self.rows = rows
        self.maintenance = maintenance
        self.pathLocks = pathLocks
        self.now = now
        self.report = report
    }

    /// Reconciles the entries with the files in the trash after a crash: an entry is committed before its
    /// rename, and dropped after the file is renamed back or removed. A file without an entry gets one, so
    /// that nothing is lost if the state is lost.
    ///
    /// Called once, after the recovery of interrupted renames and before any other change. Takes time linear
    /// in the number of entries.
    func recover() throws(StateError) {
        guard let own = resources.trashFolder else { return }
        var entries: [ResourcePath: [ResourcePath: TrashEntry]] = [own: [:]]
        try state.forEachTrashEntry { entry in
            if let folder = entry.location.parent { entries[folder, default: [:]][entry.location] = entry }
            return true
        }
        for (folder, entries) in entries {
            do throws(StoreError) {
                // A volume that is not mounted now may be mounted later.
                guard try resources.identity(at: folder) != nil else { continue }
                try recover(entries, in: folder)
            } catch {
                report("recovery of the trash failed: \(error.text)")
            }
        }
    }

    /// Creates the missing entries for files in the trash of volumes mounted inside the share. Entries are
    /// missing if the state was lost, or if they are in the state of another share. Blocks, possibly for a
    /// long time if a volume does not respond, so it runs in the background while requests use the trash.
    package func adoptMounted() {
        for folder in resources.mountedTrashFolders {
            do throws(StoreError) {
                for found in try resources.trashed(in: folder) {
                    // A file that a request has just moved to the trash has an entry, which was committed
                    // before the move; `adopt` then does nothing.
                    _ = try pathLocks.withPathLockIfFree([
                        PathLockRequest(path: found.location, mode: .exclusive)
                    ]) {
                        () throws(StoreError) -> Bool? in
                        guard try resources.identity(at: found.location) == found.info.identity else {
                            return nil
                        }
                        try adopt(found)
                        return true
                    }
                }
            } catch {
                report("checking the trash of a mounted volume failed: \(error.text)")
            }
        }
    }

    private func recover(
        _ entries: [ResourcePath: TrashEntry], in folder: ResourcePath
    ) throws(StoreError) {
        var missing = entries
        for found in try resources.trashed(in: folder) {
            guard let entry = missing.removeValue(forKey: found.location) else {
                try adopt(found)
                continue
            }
            if found.info.identity != entry.identity {
                guard try resources.identity(at: entry.path) == entry.identity else {
                    // This is the same file, but the volume has renumbered its files, for example after a
                    // restore from a backup.
                    try identify(entry, as: found)
                    continue
                }
                // The file is new content that was to be exchanged with the resource at `entry.path`. The exchange
                // did not happen: remove the file.
                _ = try stored.detach(found.location).destroy()
                rows.forget(entry)
            } else if found.info.hasOtherNames,
                try resources.identity(at: entry.path) == entry.identity
            {
                // On some volumes, a file being moved briefly has both names.
                try resources.removeContent(at: ResourceLocation(found.location))
                rows.forget(entry)
            } else {
                maintenance.recordUnmeasured(entry)
            }
        }
        for entry in missing.values where try isObsolete(entry) { rows.forget(entry) }
    }

    /// Whether an entry whose file is missing can be dropped. In a mounted volume or folder, another one may be mounted now
    /// than when the entry was created, so only an entry whose resource was not moved to the trash is obsolete there.
    private func isObsolete(_ entry: TrashEntry) throws(StoreError) -> Bool {
        if resources.ownsTrash(of: entry) { return true }
        return try resources.identity(at: entry.path) == entry.identity
    }

    private func identify(_ entry: TrashEntry, as found: TrashedResource) throws(StoreError) {
        var new = entry
        new.identity = found.info.identity
        new.isCollection = found.info.isCollection
        if !new.isCollection { new.length = found.info.length }
        try rows.commit([.dropTrash(entry), .putTrash(new)])
        maintenance.recordUnmeasured(new)
    }

    /// Creates an entry for a file whose original path is unknown.
    private func adopt(_ found: TrashedResource) throws(StoreError) {
        guard TrashEntry.isID(found.location.name) else { return }
        let id = String(decoding: found.location.name, as: UTF8.self)
        do throws(StateError) {
            if try state.trashEntry(id) != nil { return }
        } catch {
            throw StoreError(error)
        }
        // A file can only be restored to its own volume.
        let root = found.location.parent?.parent ?? .root
        guard let path = root.appending(Array("recovered-\(id)".utf8)) else { return }
        let info = found.info
        let entry = TrashEntry(
            number: state.nextTrashNumber(), id: id, path: path, location: found.location,
            identity: info.identity,
            deleted: now(), principal: nil, length: info.isCollection ? nil : info.length,
            isCollection: info.isCollection, reason: .deleted)
        try rows.commit([.putTrash(entry)])
        maintenance.recordUnmeasured(entry)
    }
}

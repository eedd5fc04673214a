internal import DavitHTTP
internal import DavitStore

extension Share {
    /// Makes entries and trash one again, after a crash: an entry was committed before its rename, and is dropped behind
    /// the other one. What stands there without any entry gets one; so nothing is lost if the state is.
    ///
    /// Called once, before the first request and after all renames are finished. Linear in what is kept.
    func recoverTrash() throws(StateError) {
        guard let own = resources.trashFolder else { return }
        var entries: [ResourcePath: [ResourcePath: TrashEntry]] = [own: [:]]
        try state.forEachTrashEntry { entry in
            if let folder = entry.place.parent { entries[folder, default: [:]][entry.place] = entry }
            return true
        }
        for (folder, entries) in entries {
            do throws(StoreError) {
                // What is not mounted now may be another time.
                guard try resources.identity(at: folder) != nil else { continue }
                try recoverTrash(entries, in: folder)
            } catch {
                report("a trash could not be looked at: \(error)")
            }
        }
    }

    /// The same for what no entry is about on the volumes that are mounted in the share: the state was lost, or is that of
    /// another share. In the background, because a volume may not answer, while others use the trash. Blocks.
    package func adoptMountedTrash() {
        for folder in resources.mountedTrashFolders {
            do throws(StoreError) {
                for found in try resources.trashed(in: folder) {
                    // Whoever has just put it there has committed its entry before.
                    _ = try sections.withSectionIfFree([Claim(path: found.place, mode: .exclusive)]) {
                        () throws(StoreError) -> Bool? in
                        guard try resources.identity(at: found.place) == found.info.identity else {
                            return nil
                        }
                        try adopt(found)
                        return true
                    }
                }
            } catch {
                report("a trash could not be looked at: \(error)")
            }
        }
    }

    private func recoverTrash(
        _ entries: [ResourcePath: TrashEntry], in folder: ResourcePath
    ) throws(StoreError) {
        var missing = entries
        for found in try resources.trashed(in: folder) {
            guard let entry = missing.removeValue(forKey: found.place) else {
                try adopt(found)
                continue
            }
            if found.info.identity != entry.identity {
                guard try resources.identity(at: entry.path) == entry.identity else {
                    // The same on a volume that has numbered its files anew, as after a backup was put back.
                    try identify(entry, as: found)
                    continue
                }
                // New content on its way to a name, which it never got.
                _ = try stored.detach(found.place).destroy()
                forget(entry)
            } else if found.info.hasOtherNames,
                try resources.identity(at: entry.path) == entry.identity
            {
                // A volume on which what goes has both names for a moment.
                try resources.removeContent(at: Place(found.place))
                forget(entry)
            } else {
                trashCare.noteUnmeasured(entry)
            }
        }
        for entry in missing.values { forget(entry) }
    }

    private func identify(_ entry: TrashEntry, as found: TrashedResource) throws(StoreError) {
        var new = entry
        new.identity = found.info.identity
        new.isCollection = found.info.isCollection
        if !new.isCollection { new.length = found.info.length }
        try record([.dropTrash(entry), .putTrash(new)])
        trashCare.noteUnmeasured(new)
    }

    /// An entry for what nobody knows any more where it was.
    private func adopt(_ found: TrashedResource) throws(StoreError) {
        guard TrashEntry.isID(found.place.name) else { return }
        let id = String(decoding: found.place.name, as: UTF8.self)
        do throws(StateError) {
            if try state.trashEntry(id) != nil { return }
        } catch {
            throw StoreError(error)
        }
        // It can go to no other volume than its own.
        let root = found.place.parent?.parent ?? .root
        guard let path = root.appending(Array("recovered-\(id)".utf8)) else { return }
        let info = found.info
        let entry = TrashEntry(
            number: state.nextTrashNumber(), id: id, path: path, place: found.place, identity: info.identity,
            deleted: now(), principal: nil, length: info.isCollection ? nil : info.length,
            isCollection: info.isCollection, reason: .deleted)
        try record([.putTrash(entry)])
        trashCare.noteUnmeasured(entry)
    }
}

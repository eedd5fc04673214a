internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore

/// Compares the recorded state with the file system and records the differences.
///
/// The folders to read, and their order, follow from events, from the database and from the folder that each
/// pass is for; reading stops and resumes between passes, and folders that are removed or renamed in the
/// meantime are forgotten. A `TreeTraversal` visits a single tree in a fixed order, so it cannot replace
/// ``PendingFolders``. Like a `TreeTraversal`, the journal reads members through a `MemberListing`.
extension JournalCore {
    /// Reads a folder and records the differences. If the folder no longer exists, forgets it; it is then not
    /// in ``visited``.
    func visit(_ id: Int64, _ path: ResourcePath) throws(JournalError) {
        guard let identity = try identity(ofFolder: path) else { return forget(id) }
        // The watch starts before the folder is read, so that no change is missed.
        do throws(JournalError) {
            try watches.add(
                id, at: path, pathOf: { (id) throws(JournalError) in try self.path(of: id) },
                mapping: { .store($0) })
        } catch {
            guard case .store(let reason) = error, Self.isAbsence(reason) else { throw error }
            return forget(id)
        }
        try updateFolder(id, path, identity)
        var left = try rows { () throws(StateError) in try database.entries(in: id) }
        var links: [[UInt8]] = []
        guard try readMembers(of: id, path, left: &left, links: &links) else { return forget(id) }
        for name in links where left[name] == nil { try compare(name, of: id, path, []) }
        // Members that the listing did not return may have been renamed in the meantime.
        for (name, row) in left {
            try update(name, of: id, path, row: row, found: try look(path, name), [])
        }
        visited.insert(id)
    }

    /// Records the identity of the folder. If it was replaced since it was last read, first removes the
    /// entries of its subtree.
    private func updateFolder(
        _ id: Int64, _ path: ResourcePath, _ identity: ResourceIdentity
    ) throws(JournalError) {
        guard var folder = try rows({ () throws(StateError) in try database.folder(id) }) else { return }
        if folder.identity != identity, folder.identity.inode != 0 {
            try removeSubtree(path, but: id)
        }
        folder.identity = identity
        try rows { () throws(StateError) in try database.set(folder) }
    }

    /// - Parameters:
    ///   - left: the recorded members; those found are removed from it.
    ///   - links: receives the links whose targets are not served.
    /// - Returns: false if the folder does not exist.
    private func readMembers(
        of id: Int64, _ path: ResourcePath, left: inout [[UInt8]: JournalEntry],
        links: inout [[UInt8]]
    ) throws(JournalError) -> Bool {
        let listing: MemberListing
        do throws(StoreError) { listing = try MemberListing(of: path, in: resources) } catch {
            // As in PROPFIND, an unreadable folder has no members.
            if error == .forbidden { return true }
            guard Self.isAbsence(error) else { throw .store(error) }
            return false
        }
        var member = Member()
        while true {
            let hasMore: Bool
            do throws(StoreError) { hasMore = try listing.next(&member) } catch { throw .store(error) }
            guard hasMore else {
                links = listing.linksLeftOut
                return true
            }
            looks += 1
            if looks & 1023 == 0, isCancelled() { throw .interrupted }
            let found = JournalEntry(member.info, isLink: member.canonicalPath != nil)
            let row = left.removeValue(forKey: member.name)
            try update(member.name, of: id, path, row: row, found: found, [])
        }
    }

    func compare(
        _ name: [UInt8], of id: Int64, _ folder: ResourcePath, _ hints: DirtyNames.Hints
    ) throws(JournalError) {
        let row = try rows { () throws(StateError) in try database.entry(name, in: id) }
        try update(name, of: id, folder, row: row, found: try look(folder, name), hints)
    }

    /// Records the difference between the recorded and the current state of a member.
    private func update(
        _ name: [UInt8], of id: Int64, _ folder: ResourcePath, row: JournalEntry?, found: JournalEntry?,
        _ hints: DirtyNames.Hints
    ) throws(JournalError) {
        guard let path = folder.appending(name) else { return }
        let old = row.flatMap { $0.isMember ? $0 : nil }
        let isSameFolder =
            old?.kind == .collection && found?.kind == .collection && old?.identity == found?.identity
        if old?.kind == .collection, !isSameFolder { try removeSubtree(path) }
        guard let found, found.isMember else {
            return try updateAbsence(name, path, of: id, row: row, isHidden: found != nil, hints)
        }
        try rows { () throws(StateError) in
            if old.map(found.differs(from:)) ?? true || hints.contains(.arrived) {
                try database.put(found, name, in: id)
            } else if old?.isVolatile != found.isVolatile {
                try database.setVolatile(found.isVolatile, name, in: id)
            }
        }
        if found.hasOtherNames, old?.isVolatile != true { try lookAtOtherNames(of: found) }
        guard found.kind == .collection else { return }
        let child = try self.folder(at: path)
        // The child may have been read before this folder, and replaced since.
        if !visited.contains(child.id) || child.identity != found.identity || hints.contains(.access) {
            pending.push(child.id, path)
        }
    }

    /// Compares a file under its other names, after a change under one of them. Events are reported only for
    /// the name through which a file is written, and adding a hard link causes no event for its existing
    /// names.
    private func lookAtOtherNames(of entry: JournalEntry) throws(JournalError) {
        let names = try rows { () throws(StateError) in try database.takeForVolatile(entry.identity) }
        for (folder, name) in names where visited.contains(folder) {
            guard let path = try path(of: folder) else { continue }
            try compare(name, of: folder, path, [])
        }
    }

    /// - Parameter isHidden: whether there is a link that is not served. Its target may be served later,
    ///   without an event in this folder.
    private func updateAbsence(
        _ name: [UInt8], _ path: ResourcePath, of id: Int64, row: JournalEntry?, isHidden: Bool,
        _ hints: DirtyNames.Hints
    ) throws(JournalError) {
        try rows { () throws(StateError) in
            let wasMember = row?.isMember ?? false
            // The client that created the resource may not know of its removal, so removals of unrecorded
            // names are reported, too (RFC 6578 §3.5.2).
            let mayHaveBeen = row == nil ? mayHaveBeenReturned(path, hints) : row?.kind != .hidden
            if wasMember || (hints.contains(.left) && mayHaveBeen) {
                try database.put(JournalEntry(removed: row, isHidden: isHidden), name, in: id)
            } else if let row, row.kind == .hidden, !isHidden {
                try database.removeEntry(name, in: id)
            } else if let row {
                if row.isVolatile != isHidden { try database.setVolatile(isHidden, name, in: id) }
            } else if isHidden {
                try database.put(.hidden, name, in: id)
            }
        }
    }

    /// Whether a removed resource may have been served. The rules exclude some names for content, but not for
    /// collections.
    private func mayHaveBeenReturned(_ path: ResourcePath, _ hints: DirtyNames.Hints) -> Bool {
        guard let rules else { return true }
        if rules.isHidden(path) { return false }
        return hints.contains(.folder) || !rules.refuses(content: path.name)
    }

    /// Records the removal of all members at any depth below `path`, and of the folders.
    /// - Parameter kept: the id of a folder that still exists, but without its members.
    func removeSubtree(_ path: ResourcePath, but kept: Int64? = nil) throws(JournalError) {
        let folders = try rows { () throws(StateError) in try database.folders(under: path) }
        for folder in folders {
            try rows { () throws(StateError) in
                try database.removeEntries(in: folder.id)
                if folder.id != kept { try database.setGone(folder) }
            }
            if folder.id != kept { forget(folder.id) }
        }
    }

    func forget(_ id: Int64) {
        visited.remove(id)
        watches.remove(id)
        dirty.forget(id)
        pending.remove(id)
    }

    // MARK: Lookup

    /// Returns the state of a member as PROPFIND would list it: nil if it would not be listed, `hidden` if
    /// the name exists but is not served now.
    func look(_ folder: ResourcePath, _ name: [UInt8]) throws(JournalError) -> JournalEntry? {
        guard let path = folder.appending(name) else { return nil }
        if let rules, !rules.lists(name) { return nil }
        looks += 1
        do throws(StoreError) {
            let lookup = try resources.lookup(path, last: .followed, wait: .allowed)
            switch lookup.state {
            case .mapped(let info):
                if lookup.path == path { return JournalEntry(info, isLink: false) }
                // The resource was found under another spelling, which is the name of the member; this name
                // does not exist.
                let itself = try resources.lookup(path, last: .notFollowed, wait: .allowed)
                return itself.path == path ? JournalEntry(info, isLink: true) : nil
            case .unservable: return .hidden
            case .unmapped, .missingAncestor: return nil
            }
        } catch {
            if error == .loop { return .hidden }
            if Self.isAbsence(error) || error == .forbidden { return nil }
            throw .store(error)
        }
    }

    func identity(ofFolder path: ResourcePath) throws(JournalError) -> ResourceIdentity? {
        do throws(StoreError) {
            let lookup = try resources.lookup(path, last: .followed, wait: .allowed)
            guard let info = lookup.info, info.isCollection, lookup.path == path else { return nil }
            return info.identity
        } catch {
            if Self.isAbsence(error) || error == .forbidden { return nil }
            throw .store(error)
        }
    }

    /// Whether the error means that there is no resource to serve. Other errors are not absences: a resource
    /// that is temporarily inaccessible has not been removed.
    private static func isAbsence(_ error: StoreError) -> Bool {
        switch error {
        case .notFound, .missingAncestor, .wrongKind, .loop, .invalidName, .nameTooLong: true
        case .wouldBlock, .alreadyExists, .forbidden, .outOfSpace, .quotaExceeded, .crossVolume, .busy,
            .rightsChanged,
            .tooDeep, .superseded, .failed:
            false
        }
    }

    func folder(at path: ResourcePath) throws(JournalError) -> JournalFolder {
        try rows { () throws(StateError) in
            guard let folder = try database.folder(at: path) else { return try database.addFolder(at: path) }
            // The folder may have been recorded as gone. Record that it exists, so that its row is not
            // deleted before the folder is read.
            if folder.identity.inode == 0 { try database.set(folder) }
            return folder
        }
    }

    func path(of id: Int64) throws(JournalError) -> ResourcePath? {
        try rows { () throws(StateError) in try database.folder(id)?.path }
    }

    func rows<R>(_ body: () throws(StateError) -> R) throws(JournalError) -> R {
        do throws(StateError) { return try body() } catch { throw .state(error) }
    }
}

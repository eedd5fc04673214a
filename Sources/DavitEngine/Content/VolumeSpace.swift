internal import DavitHTTP
internal import DavitStore

/// Makes space on volumes for new content by removing trash entries.
///
/// ``announcing(_:at:_:)`` only compares the length announced by a client with the available space, including that
/// used by the trash. It removes nothing, so a client cannot empty the trash without sending content.
/// ``reserving(for:at:wait:_:)`` removes entries when received bytes cannot be written: the oldest first, and only as
/// many as needed.
final class VolumeSpace: Sendable {
    private let resources: any ResourceStore
    private let stored: any ResourceStore
    private let state: any ShareState
    private let trash: TrashCan
    private let maintenance: TrashMaintenance

    /// - Parameter stored: all stored resources, including those that rules hide.
    init(
        _ resources: any ResourceStore, _ stored: any ResourceStore, _ state: any ShareState,
        _ trash: TrashCan,
        _ maintenance: TrashMaintenance
    ) {
        self.resources = resources
        self.stored = stored
        self.state = state
        self.trash = trash
        self.maintenance = maintenance
    }

    /// Maximum number of retries of a write, each after freeing more space.
    private static let evictionLimit = 4

    /// Runs `body`, which compares the length of an announced body with the free space. If the volume has too little
    /// space but would have enough without its trash, runs `body` again without a length to compare.
    ///
    /// - Parameters:
    ///   - bytes: The length announced by the client; nil if unknown.
    ///   - path: The path of the content.
    ///   - body: Receives the number of bytes to compare; nil for none.
    /// - Throws: Any error that `body` throws; an out-of-space error if even an empty trash would not suffice.
    func announcing<R>(
        _ bytes: Int64?, at path: ResourcePath, _ body: (Int64?) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        do throws(StoreError) { return try body(bytes) } catch {
            guard error.isOutOfSpace, let bytes, try trashCovers(bytes, at: path) else { throw error }
        }
        return try body(nil)
    }

    /// Runs `body`, which stores received bytes. If the volume has too little space, removes the oldest entries of its
    /// trash and retries.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that `body` stores.
    ///   - path: The path of the content.
    ///   - wait: With `never`, the method throws `wouldBlock` instead of removing entries.
    ///   - body: Stores either all of the bytes or none.
    func reserving<R, E: SpaceError>(
        for bytes: Int64, at path: ResourcePath, wait: Wait = .allowed, _ body: () throws(E) -> R
    ) throws(E) -> R {
        for attempt in 0..<Self.evictionLimit {
            do throws(E) { return try body() } catch {
                guard error.isOutOfSpace, trash.limits != nil, state.hasTrash else { throw error }
                if wait == .never { throw E.mustWait }
                // The volume also needs some space for its own metadata.
                let room = attempt == 0 ? bytes : bytes + bytes / 16 + 65_536
                guard (try? evictTrash(for: room, at: path)) == true else { throw error }
            }
        }
        return try body()
    }

    /// Runs `stage`, which builds a copy. If the volume has too little space, frees as much as the source occupies by
    /// removing trash entries, and builds the copy again.
    func stagingCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool = true,
        _ stage: () throws(StoreError) -> any StagedTree
    ) throws(StoreError) -> any StagedTree {
        do throws(StoreError) {
            let staged = try stage()
            guard staged.failures.contains(where: { $0.error.isOutOfSpace }), trash.limits != nil,
                state.hasTrash
            else { return staged }
            staged.destroy()
        } catch {
            guard error.isOutOfSpace, trash.limits != nil, state.hasTrash,
                let bytes = try? copiedBytes(of: source, includesMembers: includesMembers),
                (try? evictTrash(for: bytes, at: destination)) == true
            else { throw error }
            return try stage()
        }
        if let bytes = try? copiedBytes(of: source, includesMembers: includesMembers) {
            _ = try? evictTrash(for: bytes, at: destination)
        }
        return try stage()
    }

    /// Returns the number of bytes that a copy occupies, in whole blocks. Traverses the tree, without following symbolic
    /// links to collections.
    private func copiedBytes(of source: ResourcePath, includesMembers: Bool) throws(StoreError) -> Int64 {
        func blocks(_ length: Int64) -> Int64 { length > .max - 4095 ? .max : (length + 4095) & ~4095 }
        guard let info = try stored.lookup(source, last: .followed, wait: .allowed).info else { return 0 }
        if !info.isCollection { return blocks(info.length) }
        guard includesMembers else { return 0 }
        var traversal = TreeTraversal(of: stored)
        // Collections that cannot be opened are not copied.
        guard (try? traversal.begin(at: source, info)) != nil else { return 0 }
        var bytes: Int64 = 0
        var member = Member()
        while true {
            switch traversal.next(&member) {
            case .member where !member.info.isCollection:
                bytes = bytes.addingReportingOverflow(blocks(member.info.length)).partialValue
                if bytes < 0 { return .max }
            case .member, .listed, .passed, .entered, .left, .inaccessible: break
            case .interrupted(let error): throw error
            case .end: return bytes
            }
        }
    }

    // MARK: Trash of a volume

    private struct SpaceShortage {
        /// The collection that will contain the content.
        let collection: ResourcePath
        let trash: ResourcePath
        /// Number of missing bytes; 0 or less if there is enough space.
        var bytes: Int64
    }

    /// Returns how much space the volume of `path` lacks; nil if it has no trash that could be emptied.
    private func shortage(of bytes: Int64, at path: ResourcePath) throws(StoreError) -> SpaceShortage? {
        guard trash.limits != nil, state.hasTrash, let collection = path.parent,
            let volume = try resources.lookup(collection, last: .followed, wait: .allowed).info?.volume,
            let trash = try resources.trashLocation("x", for: ResourceLocation(path), volume: volume)?
                .location.path.parent
        else { return nil }
        let (missing, isTooMuch) = bytes.subtractingReportingOverflow(try resources.room(at: collection))
        return SpaceShortage(collection: collection, trash: trash, bytes: isTooMuch ? .max : missing)
    }

    /// Whether the volume has too little space for `bytes` but would have enough without its trash. Removes nothing.
    private func trashCovers(_ bytes: Int64, at path: ResourcePath) throws(StoreError) -> Bool {
        // Measure entries whose size is not known yet: the most recent entry may be the largest.
        maintenance.measure()
        guard let shortage = try shortage(of: bytes, at: path), shortage.bytes > 0 else { return false }
        return try covers(shortage)
    }

    /// Whether removing all trash entries of the volume would free enough space.
    private func covers(_ shortage: SpaceShortage) throws(StoreError) -> Bool {
        if shortage.bytes > state.trashTotals.bytes { return false }
        var missing = shortage.bytes
        try forEachTrashEntry(in: shortage.trash) { _, length in
            missing -= length
            return missing > 0
        }
        return missing <= 0
    }

    /// Removes the oldest entries from the trash of a volume until the volume has space for `bytes`. Also stops when the
    /// sizes of the removed entries add up to the missing space, because a volume may free space with a delay. Removes
    /// nothing if an empty trash would not suffice.
    ///
    /// - Returns: Whether there is enough space, or something was removed.
    private func evictTrash(for bytes: Int64, at path: ResourcePath) throws(StoreError) -> Bool {
        maintenance.measure()
        guard let shortage = try shortage(of: bytes, at: path) else { return false }
        if shortage.bytes <= 0 { return true }
        guard try covers(shortage) else { return false }
        var missing = shortage.bytes
        var hasEvicted = false
        try forEachTrashEntry(in: shortage.trash) { entry, length in
            guard maintenance.purge(entry) else { return true }
            hasEvicted = true
            missing -= length
            if let room = try? resources.room(at: shortage.collection), room >= bytes { missing = 0 }
            return missing > 0
        }
        return hasEvicted
    }

    /// Calls `body` with each non-empty trash entry of one volume and its length, oldest first, until `body` returns
    /// false.
    /// - Parameter trash: the trash folder of the volume.
    private func forEachTrashEntry(
        in trash: ResourcePath, _ body: (TrashEntry, Int64) -> Bool
    ) throws(StoreError) {
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                guard entry.location.isMember(of: trash), let length = entry.length, length > 0 else {
                    return true
                }
                return body(entry, length)
            }
        } catch {
            throw StoreError(error)
        }
    }
}

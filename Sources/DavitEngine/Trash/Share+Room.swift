internal import DavitHTTP
internal import DavitStore

/// An error that may say that a volume has too little room.
protocol RoomError: Error {
    var isForWantOfRoom: Bool { get }
    /// The call has to be repeated on a thread that may block.
    static var mustWait: Self { get }
}

extension StoreError: RoomError {
    var isForWantOfRoom: Bool { self == .outOfSpace || self == .quotaExceeded }
    static var mustWait: StoreError { .wouldBlock }
}

extension WebDAVError: RoomError {
    var isForWantOfRoom: Bool { status == .insufficientStorage }
    static var mustWait: WebDAVError { WebDAVError(store: .wouldBlock) }
}

/// Room on a volume for new content, which its trash gives up.
///
/// The length that a client announces is only compared with what the volume has, trash included (``announcing(_:at:_:)``):
/// a request without content removes nothing. Entries are removed, the oldest first, when bytes that have arrived cannot be
/// written, and as few as these bytes need (``makingRoom(for:at:wait:_:)``).
extension Share {
    /// How often a write is repeated, each time with more room.
    private static let evictionLimit = 4

    /// Runs `body`, which reserves room for bytes that have not arrived. If the volume has too little, but would have enough
    /// without its trash, runs it again without a reservation.
    ///
    /// - Parameters:
    ///   - bytes: as announced by the client; nil if it has not said.
    ///   - path: of the content.
    ///   - body: gets the bytes to reserve; nil for none.
    /// - Throws: as `body`: 507 if not even the whole trash would be enough.
    func announcing<R>(
        _ bytes: Int64?, at path: ResourcePath, _ body: (Int64?) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        do throws(StoreError) { return try body(bytes) } catch {
            guard error.isForWantOfRoom, let bytes, try trashCovers(bytes, at: path) else { throw error }
        }
        return try body(nil)
    }

    /// Runs `body`, which stores bytes that have arrived. While their volume has too little room, removes the oldest entries
    /// of its trash, and repeats it.
    ///
    /// - Parameters:
    ///   - bytes: how many.
    ///   - path: of the content.
    ///   - wait: with `never`, throws `wouldBlock` instead of removing anything.
    ///   - body: stores all of the bytes or leaves no trace.
    func makingRoom<R, E: RoomError>(
        for bytes: Int64, at path: ResourcePath, wait: Wait = .allowed, _ body: () throws(E) -> R
    ) throws(E) -> R {
        for attempt in 0..<Self.evictionLimit {
            do throws(E) { return try body() } catch {
                guard error.isForWantOfRoom, configuration.trash != nil, state.hasTrash else { throw error }
                if wait == .never { throw E.mustWait }
                // A volume also needs some for its own records of the bytes.
                let room = attempt == 0 ? bytes : bytes + bytes / 16 + 65_536
                guard (try? evictTrash(for: room, at: path)) == true else { throw error }
            }
        }
        return try body()
    }

    /// The same for a copy: its bytes are those of the source, and it is built again when there is room for them.
    func stagingCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool = true,
        _ stage: () throws(StoreError) -> any StagedTree
    ) throws(StoreError) -> any StagedTree {
        do throws(StoreError) {
            let staged = try stage()
            guard staged.failures.contains(where: { $0.error.isForWantOfRoom }), configuration.trash != nil,
                state.hasTrash
            else { return staged }
            staged.destroy()
        } catch {
            guard error.isForWantOfRoom, configuration.trash != nil, state.hasTrash,
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

    /// Bytes that a copy takes on its volume, in whole blocks. Walks the tree, without following links to collections.
    private func copiedBytes(of source: ResourcePath, includesMembers: Bool) throws(StoreError) -> Int64 {
        func blocks(_ length: Int64) -> Int64 { length > .max - 4095 ? .max : (length + 4095) & ~4095 }
        guard let info = try stored.lookup(source, last: .followed, wait: .allowed).info else { return 0 }
        if !info.isCollection { return blocks(info.length) }
        var bytes: Int64 = 0
        var pending = includesMembers ? [source] : []
        var member = Member()
        while let collection = pending.popLast() {
            // What cannot be read is not copied.
            guard let cursor = try? stored.members(of: collection) else { continue }
            while try cursor.next(&member) {
                if !member.info.isCollection {
                    bytes = bytes.addingReportingOverflow(blocks(member.info.length)).partialValue
                    if bytes < 0 { return .max }
                } else if member.canonicalPath == nil, let path = collection.appending(member.name) {
                    pending.append(path)
                }
            }
        }
        return bytes
    }

    // MARK: The trash of a volume

    private struct Shortage {
        /// Where the content is to be.
        let collection: ResourcePath
        let trash: ResourcePath
        /// Missing bytes; 0 or less if there is room.
        var bytes: Int64
    }

    /// What the volume of `path` lacks; nil if it has no trash.
    private func shortage(of bytes: Int64, at path: ResourcePath) throws(StoreError) -> Shortage? {
        guard configuration.trash != nil, state.hasTrash, let collection = path.parent,
            let volume = try resources.lookup(collection, last: .followed, wait: .allowed).info?.volume,
            let trash = try resources.trashPlace("x", for: Place(path), volume: volume)?.place.path.parent
        else { return nil }
        let (missing, isTooMuch) = bytes.subtractingReportingOverflow(try resources.room(at: collection))
        return Shortage(collection: collection, trash: trash, bytes: isTooMuch ? .max : missing)
    }

    /// Whether too little room is left for `bytes`, but enough with the trash of that volume removed. Removes nothing.
    func trashCovers(_ bytes: Int64, at path: ResourcePath) throws(StoreError) -> Bool {
        // What was deleted last may be the largest.
        measureTrash()
        guard let shortage = try shortage(of: bytes, at: path), shortage.bytes > 0 else { return false }
        return try covers(shortage)
    }

    private func covers(_ shortage: Shortage) throws(StoreError) -> Bool {
        if shortage.bytes > state.trashTotals.bytes { return false }
        var missing = shortage.bytes
        try forEachTrashEntry(in: shortage.trash) { _, length in
            missing -= length
            return missing > 0
        }
        return missing <= 0
    }

    /// Removes the oldest entries from the trash of a volume until it has room for `bytes`, or they should have been enough: a
    /// volume may take its time to free what was removed. Removes none if all of them would be too little.
    ///
    /// - Returns: whether there is room, or something was removed.
    private func evictTrash(for bytes: Int64, at path: ResourcePath) throws(StoreError) -> Bool {
        measureTrash()
        guard let shortage = try shortage(of: bytes, at: path) else { return false }
        if shortage.bytes <= 0 { return true }
        guard try covers(shortage) else { return false }
        var missing = shortage.bytes
        var hasEvicted = false
        try forEachTrashEntry(in: shortage.trash) { entry, length in
            guard purge(entry) else { return true }
            hasEvicted = true
            missing -= length
            if let room = try? resources.room(at: shortage.collection), room >= bytes { missing = 0 }
            return missing > 0
        }
        return hasEvicted
    }

    /// Shows the entries of one volume whose removal frees something, the oldest first, until `body` returns false.
    private func forEachTrashEntry(
        in trash: ResourcePath, _ body: (TrashEntry, Int64) -> Bool
    ) throws(StoreError) {
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                guard entry.place.isMember(of: trash), let length = entry.length, length > 0 else {
                    return true
                }
                return body(entry, length)
            }
        } catch {
            throw StoreError(error)
        }
    }
}

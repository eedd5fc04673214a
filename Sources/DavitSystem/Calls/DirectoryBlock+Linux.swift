#if os(Linux)
internal import CLinux

/// A block of directory entries in the format of getdents64(2).
@safe package struct DirectoryBlock: ~Copyable {
    private let storage: UnsafeMutableRawPointer
    private let capacity: Int
    private var filled = 0
    /// The offset of the next entry.
    private var offset = 0
    /// The offset of the current entry.
    private var present = 0

    /// - Parameter capacity: the size of a block in bytes; an entry takes about 24 bytes plus its name.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe storage = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    }

    deinit { unsafe storage.deallocate() }

    /// Reads the next block of `directory`, at most `limitBytes`; returns false at the end.
    package mutating func read(
        from directory: borrowing FileDescriptor, limitBytes: Int = .max
    ) throws(SystemError) -> Bool {
        let number = directory.rawValue
        let limit = min(capacity, limitBytes)
        let buffer = unsafe storage
        (filled, offset) = (0, 0)
        do {
            filled = try FileCall.run("getdents64") { unsafe davit_getdents64(number, buffer, limit) }
        } catch {
            // A directory that was removed while being read has no more entries.
            if error.code == .noEntry { return false }
            throw error
        }
        return filled > 0
    }

    /// Advances to the next entry of the block, skipping `.` and `..`; returns false at its end.
    package mutating func advance() -> Bool {
        // struct linux_dirent64: inode (8), offset (8), record length (2), type (1), name.
        while offset + 19 < filled {
            let length = Int(unsafe storage.loadUnaligned(fromByteOffset: offset + 16, as: UInt16.self))
            guard length > 19, offset + length <= filled else { return false }
            present = offset
            offset += length
            if !entry.isSelfOrParent { return true }
        }
        return false
    }

    /// The entry that ``advance()`` has moved to.
    package var entry: DirectoryEntry {
        let record = unsafe storage + present
        let kind = unsafe record.load(fromByteOffset: 18, as: UInt8.self)
        return unsafe DirectoryEntry(
            name: UnsafeRawPointer(record + 19).assumingMemoryBound(to: CChar.self),
            limit: offset - present - 19, kind: DirectoryEntry.Kind(dirent: kind))
    }
}

extension DirectoryEntry.Kind {
    /// Converts a `DT_*` constant. Volumes that do not store the type report DT_UNKNOWN.
    fileprivate init(dirent: UInt8) {
        switch dirent {
        case 8: self = .regular
        case 4: self = .directory
        case 10: self = .symbolicLink
        case 0: self = .unknown
        default: self = .special
        }
    }
}
#endif

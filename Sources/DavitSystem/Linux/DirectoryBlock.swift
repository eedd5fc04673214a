#if os(Linux)
internal import CLinux

/// A block of directory entries, as the kernel hands them out.
@safe package struct DirectoryBlock: ~Copyable {
    private let storage: UnsafeMutableRawPointer
    private let capacity: Int
    private var filled = 0
    /// Where the next entry is.
    private var offset = 0
    /// Where the present one is.
    private var present = 0

    /// - Parameter capacity: bytes read at once; an entry takes about 24 bytes and its name.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe storage = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    }

    deinit { unsafe storage.deallocate() }

    /// Reads the next block of `directory`, at most `limitBytes`; false at the end.
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
            // The directory was removed while it was read: that is its end.
            if error.code == .noEntry { return false }
            throw error
        }
        return filled > 0
    }

    /// Goes on to the next entry of the block but `.` and `..`; false at its end.
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

    /// The entry that ``advance()`` came to.
    package var entry: DirectoryEntry {
        let record = unsafe storage + present
        let kind = unsafe record.load(fromByteOffset: 18, as: UInt8.self)
        return unsafe DirectoryEntry(
            name: UnsafeRawPointer(record + 19).assumingMemoryBound(to: CChar.self),
            limit: offset - present - 19, kind: DirectoryEntry.Kind(dirent: kind))
    }
}

extension DirectoryEntry.Kind {
    /// DT_REG and its family; a volume that does not tell says DT_UNKNOWN.
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

#if canImport(Darwin)
internal import Darwin

/// A block of directory entries, read with `readdir`.
@safe package struct DirectoryBlock: ~Copyable {
    private let capacity: Int
    private var stream: UnsafeMutablePointer<DIR>?
    /// The entries, each a type byte and a NUL-terminated name.
    private var storage: UnsafeMutableRawPointer
    private var filled = 0
    /// The offset of the next entry.
    private var offset = 0
    /// The offset of the current entry.
    private var present = 0
    /// The maximum size of an entry: its type, a name and a NUL.
    private static let entryLimit = 1 + Int(MAXPATHLEN) + 1

    /// - Parameter capacity: the approximate number of bytes per block.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe storage = UnsafeMutableRawPointer.allocate(
            byteCount: capacity + Self.entryLimit, alignment: 8)
    }

    deinit {
        unsafe storage.deallocate()
        if let stream = unsafe stream { unsafe closedir(stream) }
    }

    /// Reads the next block of `directory`, about `limitBytes` at most; returns false at the end.
    ///
    /// Use a separate block for each directory, because the block keeps the read position.
    package mutating func read(
        from directory: borrowing FileDescriptor, limitBytes: Int = .max
    ) throws(SystemError) -> Bool {
        (filled, offset) = (0, 0)
        let open: UnsafeMutablePointer<DIR>
        // With `??`, the function would throw `any Error`.
        if let stream = unsafe stream {
            unsafe open = stream
        } else {
            unsafe open = try openStream(directory.rawValue)
        }
        while filled < min(capacity, limitBytes) {
            errno = 0
            guard let entry = unsafe readdir(open) else {
                if errno != 0 { throw SystemError(errno: errno, call: "readdir") }
                break
            }
            let length = min(Int(unsafe entry.pointee.d_namlen), Int(MAXPATHLEN))
            unsafe storage.storeBytes(of: entry.pointee.d_type, toByteOffset: filled, as: UInt8.self)
            unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                guard let start = unsafe name.baseAddress else { return }
                unsafe (storage + filled + 1).copyMemory(from: start, byteCount: length)
            }
            unsafe storage.storeBytes(of: 0, toByteOffset: filled + 1 + length, as: UInt8.self)
            filled += length + 2
        }
        return filled > 0
    }

    private mutating func openStream(_ number: Int32) throws(SystemError) -> UnsafeMutablePointer<DIR> {
        // `closedir` closes the descriptor of its stream, so open a separate one.
        let own = try FileCall.run("openat") { unsafe openAt(number, ".", OpenMode.entries.flags, 0) }
        guard let opened = unsafe fdopendir(own) else {
            let error = SystemError(errno: errno, call: "fdopendir")
            _ = FileDescriptor(owning: own)
            throw error
        }
        unsafe stream = opened
        return unsafe opened
    }

    /// Advances to the next entry of the block, skipping `.` and `..`; returns false at its end.
    package mutating func advance() -> Bool {
        while offset < filled {
            present = offset
            offset += unsafe strlen((storage + offset + 1).assumingMemoryBound(to: CChar.self)) + 2
            if !entry.isSelfOrParent { return true }
        }
        return false
    }

    /// The entry that ``advance()`` has moved to.
    package var entry: DirectoryEntry {
        let kind = unsafe storage.load(fromByteOffset: present, as: UInt8.self)
        return unsafe DirectoryEntry(
            name: UnsafeRawPointer(storage + present + 1).assumingMemoryBound(to: CChar.self),
            limit: offset - present - 1, kind: DirectoryEntry.Kind(dirent: kind))
    }
}

extension DirectoryEntry.Kind {
    fileprivate init(dirent: UInt8) {
        switch Int32(dirent) {
        case DT_REG: self = .regular
        case DT_DIR: self = .directory
        case DT_LNK: self = .symbolicLink
        case DT_UNKNOWN: self = .unknown
        default: self = .special
        }
    }
}
#endif

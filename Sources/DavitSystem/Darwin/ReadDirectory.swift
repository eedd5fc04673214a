#if canImport(Darwin)
internal import Darwin

/// A block of directory entries, gathered from `readdir`.
@safe package struct DirectoryBlock: ~Copyable {
    private let capacity: Int
    private var stream: UnsafeMutablePointer<DIR>?
    /// Type and name with its NUL of each entry, one after the other.
    private var storage: UnsafeMutableRawPointer
    private var filled = 0
    /// Where the next entry is.
    private var offset = 0
    /// Where the present one is.
    private var present = 0
    /// The most that one entry takes: its type, a name and a NUL.
    private static let entryLimit = 1 + Int(MAXPATHLEN) + 1

    /// - Parameter capacity: bytes gathered at once, about.
    package init(capacity: Int) {
        self.capacity = capacity
        unsafe storage = UnsafeMutableRawPointer.allocate(
            byteCount: capacity + Self.entryLimit, alignment: 8)
    }

    deinit {
        unsafe storage.deallocate()
        if let stream = unsafe stream { unsafe closedir(stream) }
    }

    /// Reads the next block of `directory`, about `limitBytes` at most; false at the end.
    ///
    /// One value reads one directory: its position is kept here.
    package mutating func read(
        from directory: borrowing FileDescriptor, limitBytes: Int = .max
    ) throws(SystemError) -> Bool {
        (filled, offset) = (0, 0)
        let open = try unsafe stream ?? openStream(directory.rawValue)
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
        // `closedir` closes what it was given, so it gets a descriptor of its own.
        let own = try FileCall.run("openat") { unsafe openAt(number, ".", OpenMode.entries.flags, 0) }
        guard let opened = unsafe fdopendir(own) else {
            let error = SystemError(errno: errno, call: "fdopendir")
            _ = FileDescriptor(owning: own)
            throw error
        }
        unsafe stream = opened
        return unsafe opened
    }

    /// Goes on to the next entry of the block but `.` and `..`; false at its end.
    package mutating func advance() -> Bool {
        while offset < filled {
            present = offset
            offset += unsafe strlen((storage + offset + 1).assumingMemoryBound(to: CChar.self)) + 2
            if !entry.isSelfOrParent { return true }
        }
        return false
    }

    /// The entry that ``advance()`` came to.
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

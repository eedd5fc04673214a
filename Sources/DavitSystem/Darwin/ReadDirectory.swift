#if canImport(Darwin)
internal import Darwin

/// A block of directory entries, gathered from `readdir`.
@safe package struct DirectoryBlock: ~Copyable {
    private let capacity: Int
    private var stream: UnsafeMutablePointer<DIR>?
    /// Type and name with its NUL of each entry, one after the other.
    private var storage: [UInt8] = []

    /// - Parameter capacity: bytes gathered at once, about.
    package init(capacity: Int) { self.capacity = capacity }

    deinit {
        if let stream = unsafe stream { unsafe closedir(stream) }
    }

    /// Reads the next block of `directory`, about `limitBytes` at most; false at the end.
    ///
    /// One value reads one directory: its position is kept here.
    package mutating func read(
        from directory: borrowing FileDescriptor, limitBytes: Int = .max
    ) throws(SystemError) -> Bool {
        storage.removeAll(keepingCapacity: true)
        let open = try unsafe stream ?? openStream(directory.rawValue)
        while storage.count < min(capacity, limitBytes) {
            errno = 0
            guard let entry = unsafe readdir(open) else {
                if errno != 0 { throw SystemError(errno: errno, call: "readdir") }
                break
            }
            storage.append(unsafe entry.pointee.d_type)
            let length = Int(unsafe entry.pointee.d_namlen)
            unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe storage.append(contentsOf: name.prefix(length))
            }
            storage.append(0)
        }
        return !storage.isEmpty
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

    /// Calls `body` for each entry of the block but `.` and `..`.
    package borrowing func scan<Failure: Error>(
        _ body: (borrowing DirectoryEntry) throws(Failure) -> Void
    ) throws(Failure) {
        try unsafe storage.withUnsafeBytes { bytes throws(Failure) in
            var offset = 0
            while offset < bytes.count, let start = unsafe bytes.baseAddress {
                let name = unsafe (start + offset + 1).assumingMemoryBound(to: CChar.self)
                let length = unsafe strlen(name)
                let entry = unsafe DirectoryEntry(
                    name: name, limit: length + 1, kind: DirectoryEntry.Kind(dirent: bytes[offset]))
                if !entry.isSelfOrParent { try body(entry) }
                offset += length + 2
            }
        }
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

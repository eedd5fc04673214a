#if canImport(Darwin)
internal import Darwin

extension RootDirectory {
    // Flags from <sys/fcntl.h>, since macOS 11: calls fail with ELOOP if any component of the path is a link.
    private static let noLinkAnywhere: Int32 = 0x2000_0000
    private static let statusWithoutAnyLink: Int32 = 0x0800

    /// Whether a single system call can resolve a path of several components.
    static var canOpenBeneath: Bool { true }

    static func matching(_ number: Int32) -> NameMatching {
        if fpathconf(number, _PC_CASE_SENSITIVE) == 0 { return .equivalenceAndCase }
        var volume = statfs()
        guard unsafe fstatfs(number, &volume) == 0 else { return .bytes }
        let kind = unsafe withUnsafeBytes(of: &volume.f_fstypename) { name in
            unsafe Array(name.prefix { $0 != 0 })
        }
        return kind == Array("apfs".utf8) || kind == Array("hfs".utf8) ? .equivalence : .bytes
    }

    /// Returns the path of an existing file or directory with its names as stored on the volume.
    package borrowing func storedPath(of path: [UInt8]) throws(SystemError) -> [UInt8] {
        let file = try open(path, for: .content, mayWait: true)
        let number = file.rawValue
        var text = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try FileCall.run("fcntl") { unsafe fcntl(number, F_GETPATH, &text) }
        let stored = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let prefix = realPath == [UInt8(ascii: "/")] ? realPath : realPath + [UInt8(ascii: "/")]
        // If the root was moved, the relative path cannot be derived from the text.
        return stored.starts(with: prefix) ? Array(stored.dropFirst(prefix.count)) : path
    }

    /// Returns the status of the file at `path`, without following any link. Throws `loop` if the path
    /// contains a link.
    ///
    /// - Parameters:
    ///   - path: segments joined by "/", without `.` and `..`; empty for the root.
    ///   - acceptsLink: whether the last component may be a link; the result is then the status of the link.
    ///   - mayWait: not used, because the system cannot report what is cached; metadata is always read on the
    ///     calling thread.
    ///   - isOpen: not used on this system.
    package borrowing func status(
        at path: [UInt8], acceptsLink: Bool, mayWait: Bool, isOpen: Bool = false
    ) throws(SystemError) -> FileStatus {
        if path.isEmpty { return try descriptor.status() }
        if walksComponents || path.count >= Int(PATH_MAX) || acceptsLink {
            let slash = path.lastIndex(of: UInt8(ascii: "/"))
            let parent = slash.map { Array(path[..<$0]) } ?? []
            let status = try open(parent, for: .base, mayWait: mayWait)
                .status(of: slash.map { Array(path[($0 + 1)...]) } ?? path)
            if status.kind == .symbolicLink, !acceptsLink {
                throw SystemError(errno: ELOOP, call: "fstatat")
            }
            return status
        }
        return try descriptor.status(at: path, flags: Self.statusWithoutAnyLink)
    }

    /// Opens the file at `path`, without following any link. Throws `loop` if the path contains a link.
    ///
    /// The caller must have checked with ``status(at:acceptsLink:mayWait:isOpen:)`` that the file is not a
    /// FIFO, socket or device, and must check the kind again after opening, because the file may have been
    /// replaced in between. Opening such a file neither blocks nor acquires a controlling terminal.
    package borrowing func open(
        _ path: [UInt8], for mode: OpenMode, mayWait: Bool
    ) throws(SystemError) -> FileDescriptor {
        if walksComponents || path.count >= Int(PATH_MAX) {
            return try openByComponents(path, flags: mode.flags, permissions: 0)
        }
        let directory = descriptor.rawValue
        let number = try unsafe withCPath(path.isEmpty ? [UInt8(ascii: ".")] : path) {
            text throws(SystemError) in
            try FileCall.run("openat") {
                unsafe openAt(directory, text, mode.flags | Self.noLinkAnywhere, 0)
            }
        }
        return FileDescriptor(owning: number)
    }

    /// Always throws `again`, because the system cannot report what is cached.
    package borrowing func openCachedBase(_ path: [UInt8]) throws(SystemError) -> FileDescriptor {
        throw SystemError(errno: EAGAIN, call: "openat")
    }
}

extension FileDescriptor {
    /// Not supported: Apple's volumes have no unnamed files.
    package borrowing func openUnnamed(permissions: UInt32) throws(SystemError) -> FileDescriptor {
        throw SystemError(errno: ENOTSUP, call: "open")
    }

    /// Never called, because there are no unnamed files.
    package borrowing func linkUnnamed(
        to directory: borrowing FileDescriptor, as name: [UInt8]
    ) throws(SystemError) {
        throw SystemError(errno: ENOTSUP, call: "linkat")
    }
}
#endif

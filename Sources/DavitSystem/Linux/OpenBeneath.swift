#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension RootDirectory {
    /// The status of what a path names, without following any link: `loop` where one is in the way.
    ///
    /// - Parameters:
    ///   - path: segments joined by "/", no `.`, no `..`; empty for the root.
    ///   - acceptsLink: a link in the last place is what is asked for.
    ///   - mayWait: if false, the answer comes from the kernel's caches or is `again`.
    ///   - isOpen: the path is that of an open file, which keeps the names on its way in memory.
    package borrowing func status(
        at path: [UInt8], acceptsLink: Bool, mayWait: Bool, isOpen: Bool = false
    ) throws(SystemError) -> FileStatus {
        if path.isEmpty { return try descriptor.status() }
        // A single name leads through no link: one call that opens nothing tells the same. It may wait for a disk.
        if mayWait || isInMemory || isOpen, !path.contains(UInt8(ascii: "/")) {
            let status = try descriptor.status(of: path)
            if status.kind == .symbolicLink, !acceptsLink { throw SystemError(errno: ELOOP, call: "statx") }
            return status
        }
        let flags = Int32(DAVIT_O_PATH) | O_CLOEXEC | (acceptsLink ? O_NOFOLLOW : 0)
        let file = try open(path, flags: flags, permissions: 0, mayWait: mayWait)
        let status = try file.status()
        // Only the walk by components gets here: it opens without following.
        if status.kind == .symbolicLink, !acceptsLink { throw SystemError(errno: ELOOP, call: "openat") }
        return status
    }

    /// Opens what a path names, without following any link: `loop` where one is in the way.
    ///
    /// The caller has seen with ``status(at:acceptsLink:mayWait:)`` that it is no FIFO, socket or device, and
    /// looks at the kind again afterwards: somebody may have put one there in between. Such an open neither
    /// waits nor takes a terminal; only a name that changes in that very instant comes to it at all.
    package borrowing func open(
        _ path: [UInt8], for mode: OpenMode, mayWait: Bool
    ) throws(SystemError) -> FileDescriptor {
        try open(path, flags: mode.flags, permissions: 0, mayWait: mayWait)
    }

    /// Opens a directory of the root's own volume, as a base, from the kernel's caches: never waits.
    /// - Throws: `again` if it is not cached, `crossVolume` if something is mounted on the way.
    package borrowing func openCachedBase(_ path: [UInt8]) throws(SystemError) -> FileDescriptor {
        guard Self.features.hasCachedLookup, !walksComponents, path.count < 4096 else {
            throw SystemError(errno: EAGAIN, call: "openat2")
        }
        return try open(
            path, flags: OpenMode.base.flags, permissions: 0, mayWait: false,
            resolve: DAVIT_RESOLVE_NO_XDEV)
    }

    borrowing func open(
        _ path: [UInt8], flags: Int32, permissions: UInt32, mayWait: Bool,
        resolve more: Int = 0, call: SystemError.StaticName = "openat2"
    ) throws(SystemError) -> FileDescriptor {
        // PATH_MAX counts the NUL.
        guard !walksComponents, path.count < 4096 else {
            return try openByComponents(path, flags: flags, permissions: permissions, call: call)
        }
        let always = more | DAVIT_RESOLVE_BENEATH | DAVIT_RESOLVE_NO_SYMLINKS | DAVIT_RESOLVE_NO_MAGICLINKS
        if mayWait || !Self.features.hasCachedLookup {
            return try open(path, flags, permissions, resolve: always, call)
        }
        do throws(SystemError) {
            return try open(path, flags, permissions, resolve: always | DAVIT_RESOLVE_CACHED, call)
        } catch {
            guard error.code == .again, isInMemory else { throw error }
        }
        // A volume without a disk keeps no note of names that are missing, so that each of them looks as if it had to
        // be waited for. On that volume itself nothing has to be.
        do throws(SystemError) {
            return try open(path, flags, permissions, resolve: always | DAVIT_RESOLVE_NO_XDEV, call)
        } catch {
            throw error.code == .crossVolume ? SystemError(errno: EAGAIN, call: call) : error
        }
    }

    private borrowing func open(
        _ path: [UInt8], _ flags: Int32, _ permissions: UInt32, resolve: Int, _ call: SystemError.StaticName
    ) throws(SystemError) -> FileDescriptor {
        let directory = descriptor.rawValue
        let target = path.isEmpty ? [UInt8(ascii: ".")] : path
        let number = try unsafe withCPath(target) { text throws(SystemError) in
            try FileCall.run(call) {
                unsafe davit_openat2(
                    directory, text, UInt64(UInt32(bitPattern: flags)), UInt64(permissions), UInt64(resolve))
            }
        }
        return FileDescriptor(owning: number)
    }

    /// Whether one call of the system can resolve a whole path.
    static var canOpenBeneath: Bool { features.hasOpenat2 }

    /// Some volumes ignore case here, too, but tell neither that nor how a name is stored.
    static func matching(_ number: Int32) -> NameMatching { .bytes }

    /// The path itself.
    package borrowing func storedPath(of path: [UInt8]) throws(SystemError) -> [UInt8] { path }

    private struct Features: Sendable {
        var hasOpenat2: Bool
        var hasCachedLookup: Bool
    }

    /// Asked once: kernels before 5.6 and some sandboxes have no openat2, kernels before 5.12 no
    /// cached-only look-up. Metadata is then read where the caller stands, also if it may wait.
    private static let features: Features = {
        func opens(_ resolve: Int) -> Bool {
            let flags = UInt64(DAVIT_O_PATH) | UInt64(O_CLOEXEC)
            let number = unsafe davit_openat2(AT_FDCWD, ".", flags, 0, UInt64(resolve))
            // EAGAIN: the flag is known, the name is not cached.
            if number < 0 { return errno == EAGAIN }
            _ = FileDescriptor(owning: number)
            return true
        }
        return Features(
            hasOpenat2: opens(DAVIT_RESOLVE_BENEATH), hasCachedLookup: opens(DAVIT_RESOLVE_CACHED))
    }()
}
#endif

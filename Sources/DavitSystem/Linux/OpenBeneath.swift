#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension RootDirectory {
    /// Returns the status of the file at `path`, without following any link. Throws `loop` if the path
    /// contains a link.
    ///
    /// - Parameters:
    ///   - path: segments joined by "/", without `.` and `..`; empty for the root.
    ///   - acceptsLink: whether the last component may be a link; the result is then the status of the link.
    ///   - mayWait: if false, the result comes from the kernel's caches, or `again` is thrown.
    ///   - isOpen: whether the file is open, which keeps the names of its path in the kernel's cache.
    package borrowing func status(
        at path: [UInt8], acceptsLink: Bool, mayWait: Bool, isOpen: Bool = false
    ) throws(SystemError) -> FileStatus {
        if path.isEmpty { return try descriptor.status() }
        // A single component cannot lead through a link, so one call that opens nothing is sufficient. The
        // call may wait for a disk.
        if mayWait || isInMemory || isOpen, !path.contains(UInt8(ascii: "/")) {
            let status = try descriptor.status(of: path)
            if status.kind == .symbolicLink, !acceptsLink { throw SystemError(errno: ELOOP, call: "statx") }
            return status
        }
        let flags = Int32(DAVIT_O_PATH) | O_CLOEXEC | (acceptsLink ? O_NOFOLLOW : 0)
        let file = try open(path, flags: flags, permissions: 0, mayWait: mayWait)
        let status = try file.status()
        // True only if components are resolved one by one: O_PATH with O_NOFOLLOW then opens the link itself.
        if status.kind == .symbolicLink, !acceptsLink { throw SystemError(errno: ELOOP, call: "openat") }
        return status
    }

    /// Opens the file at `path`, without following any link. Throws `loop` if the path contains a link.
    ///
    /// The caller must have checked with ``status(at:acceptsLink:mayWait:isOpen:)`` that the file is not a
    /// FIFO, socket or device, and must check the kind again after opening, because the file may have been
    /// replaced in between. Opening such a file neither blocks nor acquires a controlling terminal.
    package borrowing func open(
        _ path: [UInt8], for mode: OpenMode, mayWait: Bool
    ) throws(SystemError) -> FileDescriptor {
        try open(path, flags: mode.flags, permissions: 0, mayWait: mayWait)
    }

    /// Opens a directory on the volume of the root as a base, from the kernel's caches. Never blocks.
    /// - Throws: `again` if it is not cached, `crossVolume` if the path crosses a mount point.
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
        // PATH_MAX includes the NUL.
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
        // A volume without a disk does not cache missing names, so a lookup of a missing name fails as if it
        // had to wait. A lookup that does not leave this volume never waits, so repeat it without the cache
        // requirement.
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

    /// Whether a single system call can resolve a path of several components.
    static var canOpenBeneath: Bool { features.hasOpenat2 }

    /// Always returns `.bytes`: some Linux volumes also ignore case, but report neither that nor the stored
    /// spelling.
    static func matching(_ number: Int32) -> NameMatching { .bytes }

    /// Returns the path unchanged.
    package borrowing func storedPath(of path: [UInt8]) throws(SystemError) -> [UInt8] { path }

    private struct Features: Sendable {
        var hasOpenat2: Bool
        var hasCachedLookup: Bool
    }

    /// The features that the kernel supports, determined once: kernels before 5.6 and some sandboxes have no
    /// openat2, and kernels before 5.12 have no cached-only lookup. Without cached-only lookup, metadata is
    /// read on the calling thread even if `mayWait` is false.
    private static let features: Features = {
        func opens(_ resolve: Int) -> Bool {
            let flags = UInt64(DAVIT_O_PATH) | UInt64(O_CLOEXEC)
            let number = unsafe davit_openat2(AT_FDCWD, ".", flags, 0, UInt64(resolve))
            // EAGAIN: the flag is supported, but the name is not cached.
            if number < 0 { return errno == EAGAIN }
            _ = FileDescriptor(owning: number)
            return true
        }
        return Features(
            hasOpenat2: opens(DAVIT_RESOLVE_BENEATH), hasCachedLookup: opens(DAVIT_RESOLVE_CACHED))
    }()
}
#endif

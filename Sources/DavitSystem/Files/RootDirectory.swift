#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A root directory, beneath which every path is resolved.
package struct RootDirectory: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    /// The absolute path without links at the time of opening.
    package let realPath: [UInt8]

    /// Whether paths are resolved component by component, on request or because the system cannot resolve a
    /// path beneath a directory in one call.
    let walksComponents: Bool
    /// How the root's volume compares names. Only Apple's systems report it.
    package let matching: NameMatching
    /// Whether the root's volume is known to be local. On a local volume, an open file keeps its inode
    /// number, and a removed file leaves nothing in its directory even if it is open. Network and FUSE
    /// volumes guarantee neither.
    package let canKeepOpenFiles: Bool
    /// Whether the root's volume has no disk to wait for.
    package let isInMemory: Bool

    /// Opens a directory whose entries this process can read.
    ///
    /// - Parameter walksComponents: whether to resolve paths component by component even if the system has a
    ///   call for it.
    package init(opening path: String, walksComponents: Bool = false) throws(SystemError) {
        let realPath = try DavitSystem.realPath(path)
        let number = try unsafe withCPath(realPath) { text throws(SystemError) in
            try FileCall.run("open") { unsafe openAt(AT_FDCWD, text, OpenMode.entries.flags, 0) }
        }
        descriptor = FileDescriptor(owning: number)
        matching = Self.matching(number)
        canKeepOpenFiles = descriptor.isOnLocalVolume
        isInMemory = descriptor.isInMemory
        self.realPath = realPath
        self.walksComponents = walksComponents || !Self.canOpenBeneath
    }

    /// Opens a path component by component, with the same result as a single call. No component may be a
    /// link.
    borrowing func openByComponents(
        _ path: [UInt8], flags: Int32, permissions: UInt32, call: SystemError.StaticName = "openat"
    ) throws(SystemError) -> FileDescriptor {
        let components = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        var base = try descriptor.open([UInt8(ascii: ".")], for: .base)
        for component in components.dropLast() {
            base = try base.openBase(component)
        }
        let directory = base.rawValue
        let name = components.last ?? [UInt8(ascii: ".")]
        #if DAVIT_FAULTS
        let stored = CaseInsensitiveVolume.stored(name, in: directory)
        #else
        let stored = name
        #endif
        let number = try unsafe withCPath(stored) {
            text throws(SystemError) in
            try FileCall.run(call) { unsafe openAt(directory, text, flags | O_NOFOLLOW, permissions) }
        }
        return FileDescriptor(owning: number)
    }
}

extension RootDirectory {
    /// How a volume compares names.
    package enum NameMatching: Sendable {
        /// By their bytes.
        case bytes
        /// By canonical equivalence of Unicode.
        case equivalence
        /// By canonical equivalence, ignoring case.
        case equivalenceAndCase
    }

    /// Returns whether a file found at `path` may be stored under a different spelling.
    package borrowing func findsOtherSpellings(of path: [UInt8]) -> Bool {
        switch matching {
        case .bytes: false
        case .equivalence: !path.allSatisfy { $0 < 0x80 }
        case .equivalenceAndCase: true
        }
    }
}

extension FileDescriptor {
    /// Whether the open file is known to be on a local volume.
    package var isOnLocalVolume: Bool {
        #if os(Linux)
        davit_is_local(rawValue) != 0
        #else
        var volume = statfs()
        return unsafe fstatfs(rawValue, &volume) == 0 && volume.f_flags & UInt32(MNT_LOCAL) != 0
        #endif
    }

    /// Opens a directory as a base. For a link, throws `loop` instead of the system's `notDirectory`.
    fileprivate borrowing func openBase(_ name: [UInt8]) throws(SystemError) -> FileDescriptor {
        do {
            return try open(name, for: .base)
        } catch {
            guard error.code == .notDirectory, try status(of: name).kind == .symbolicLink else { throw error }
            throw SystemError(errno: ELOOP, call: "openat")
        }
    }
}

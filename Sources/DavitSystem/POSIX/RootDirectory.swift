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

/// The directory that nothing leaves: every path is resolved beneath it.
package struct RootDirectory: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    /// Absolute and without links, when it was opened.
    package let realPath: [UInt8]

    /// True where the system cannot resolve a path beneath a directory in one call.
    let walksComponents: Bool
    /// Which names the root's volume takes for one. Only Apple's systems tell.
    package let matching: NameMatching
    /// True if the root's volume is known to be this machine's own. There an open file keeps its inode number, and
    /// removing it leaves nothing in its directory; volumes of a network or a helper process promise neither.
    package let canKeepOpenFiles: Bool
    /// True if the root's volume has no disk that could be waited for.
    package let isInMemory: Bool

    /// Opens a directory whose entries this process can read.
    ///
    /// - Parameter walksComponents: resolve component by component, also if the system has a call for it.
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

    /// As the single call would do it: one component after the other, none of them a link.
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
        let stored = FoldingVolume.stored(name, in: directory)
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
    /// How a volume finds a name.
    package enum NameMatching: Sendable {
        /// By its bytes.
        case bytes
        /// By canonical equivalence.
        case equivalence
        /// The same, and without regard to the case of letters.
        case equivalenceAndCase
    }

    /// Whether what is found at a path can be stored under other names.
    package borrowing func findsOtherSpellings(of path: [UInt8]) -> Bool {
        switch matching {
        case .bytes: false
        case .equivalence: !path.allSatisfy { $0 < 0x80 }
        case .equivalenceAndCase: true
        }
    }
}

extension FileDescriptor {
    /// True if what is open is known to be on a volume of this machine's own.
    package var isOnLocalVolume: Bool {
        #if os(Linux)
        davit_is_local(rawValue) != 0
        #else
        var volume = statfs()
        return unsafe fstatfs(rawValue, &volume) == 0 && volume.f_flags & UInt32(MNT_LOCAL) != 0
        #endif
    }

    /// Opens a directory as a base; says `loop` for a link where the system says "not a directory".
    fileprivate borrowing func openBase(_ name: [UInt8]) throws(SystemError) -> FileDescriptor {
        do {
            return try open(name, for: .base)
        } catch {
            guard error.code == .notDirectory, try status(of: name).kind == .symbolicLink else { throw error }
            throw SystemError(errno: ELOOP, call: "openat")
        }
    }
}

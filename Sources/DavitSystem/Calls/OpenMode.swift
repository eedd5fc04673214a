#if canImport(Glibc)
internal import CLinux
internal import Glibc
#elseif canImport(Musl)
internal import CLinux
internal import Musl
#else
internal import Darwin
#endif

/// The purpose for which a file is opened. Every descriptor is closed on exec; none becomes a controlling
/// terminal.
package enum OpenMode: Sendable {
    /// A directory, only as the base of other calls; on Linux search permission is sufficient.
    case base
    /// A directory, for reading its entries.
    case entries
    /// A file, for reading. Opening does not wait for the writer of a FIFO or for the end of a lease.
    case content
    /// A new file, which must not exist yet.
    case newContent
    /// An existing file, for appending.
    case addition
    /// An existing file, for reading and writing.
    case update

    var flags: Int32 {
        let always = O_CLOEXEC | O_NOCTTY
        switch self {
        // openat2 rejects flags that O_PATH would ignore.
        case .base: return O_CLOEXEC | O_DIRECTORY | Self.searchOnly
        case .entries: return always | O_DIRECTORY | O_RDONLY
        case .content: return always | O_RDONLY | O_NONBLOCK
        case .newContent: return always | O_RDWR | O_CREAT | O_EXCL
        case .addition: return always | O_WRONLY | O_APPEND
        case .update: return always | O_RDWR | O_NONBLOCK
        }
    }

    #if os(Linux)
    private static var searchOnly: Int32 { Int32(DAVIT_O_PATH) }
    #else
    private static var searchOnly: Int32 { O_RDONLY }
    #endif
}

extension FileDescriptor {
    /// Opens a member. A symbolic link is an error: `loop`, or `notDirectory` if a directory is opened.
    ///
    /// The caller must have checked the kind of the member: a FIFO, a socket or a device must never be
    /// opened.
    package borrowing func open(
        _ name: [UInt8], for mode: OpenMode, permissions: UInt32 = 0
    ) throws(SystemError) -> FileDescriptor {
        let directory = rawValue
        #if DAVIT_FAULTS
        let name = CaseInsensitiveVolume.stored(name, in: directory)
        #endif
        let number = try unsafe withCPath(name) { text throws(SystemError) in
            try FileCall.run("openat") {
                unsafe openAt(directory, text, mode.flags | O_NOFOLLOW, permissions)
            }
        }
        return FileDescriptor(owning: number)
    }

    /// Opens the parent of this directory.
    package borrowing func openParent() throws(SystemError) -> FileDescriptor {
        try open([UInt8(ascii: "."), UInt8(ascii: ".")], for: .entries)
    }
}

@inline(__always)
func openAt(_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: UInt32) -> Int32 {
    #if os(Linux)
    unsafe davit_openat(directory, path, flags, mode)
    #else
    unsafe openat(directory, path, flags, mode_t(mode))
    #endif
}

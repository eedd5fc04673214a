#if canImport(Glibc)
internal import CLinux
internal import Glibc
#elseif canImport(Musl)
internal import CLinux
internal import Musl
#else
internal import Darwin
#endif

/// What a file is opened for. Every descriptor is closed on exec; none becomes a controlling terminal.
package enum OpenMode: Sendable {
    /// A directory, as the base of other calls only; search permission of its members is enough on Linux.
    case base
    /// A directory, to read its entries.
    case entries
    /// Content, to read. Never waits: not for a writer of a FIFO, not for the end of a lease.
    case content
    /// Content that is created and must not exist yet.
    case newContent
    /// Content that is there, to add to its end.
    case addition
    /// Content that is there, to read and to write.
    case update

    var flags: Int32 {
        let always = O_CLOEXEC | O_NOCTTY
        switch self {
        // openat2 refuses O_PATH with anything that it would ignore.
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
    /// Opens a member; a symbolic link is an error (`loop`, or `notDirectory` for a directory).
    ///
    /// The caller has looked at the member before: a FIFO, a socket or a device must never be opened.
    package borrowing func open(
        _ name: [UInt8], for mode: OpenMode, permissions: UInt32 = 0
    ) throws(SystemError) -> FileDescriptor {
        let directory = rawValue
        #if DAVIT_FAULTS
        let name = FoldingVolume.stored(name, in: directory)
        #endif
        let number = try unsafe withCPath(name) { text throws(SystemError) in
            try FileCall.run("openat") {
                unsafe openAt(directory, text, mode.flags | O_NOFOLLOW, permissions)
            }
        }
        return FileDescriptor(owning: number)
    }

    /// Opens the directory above this one.
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

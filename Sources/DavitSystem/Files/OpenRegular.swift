#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a regular file for reading by its path. Blocks.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory; links in parent directories are followed.
    ///   - followsLink: whether to follow a link in the last component; otherwise a link is an error
    ///     (`loop`).
    /// - Throws: `noEntry` if the path does not refer to a regular file; a FIFO or a device is not opened.
    package static func openRegular(_ path: String, followsLink: Bool) throws(SystemError) -> FileDescriptor {
        let bytes = followsLink ? try realPath(path) : Array(path.utf8)
        // The system would truncate a name at a NUL.
        guard !bytes.contains(0) else { throw .absent }
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        let name = Array(bytes[(slash.map { $0 + 1 } ?? 0)...])
        guard !name.isEmpty else { throw .absent }
        let folder = try openBase(slash.map { Array(bytes[...$0]) } ?? [UInt8(ascii: ".")])
        switch try folder.status(of: name).kind {
        case .regular: break
        case .symbolicLink: throw SystemError(errno: ELOOP, call: "openat")
        case .directory, .special: throw .absent
        }
        let file = try folder.open(name, for: .content)
        // The file may have been replaced since its kind was checked.
        guard try file.status().kind == .regular else { throw .absent }
        return file
    }

    private static func openBase(_ path: [UInt8]) throws(SystemError) -> FileDescriptor {
        let number = try unsafe withCPath(path) { text throws(SystemError) in
            try FileCall.run("openat") { unsafe openAt(AT_FDCWD, text, OpenMode.base.flags, 0) }
        }
        return FileDescriptor(owning: number)
    }
}

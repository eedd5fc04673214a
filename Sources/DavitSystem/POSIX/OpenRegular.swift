#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a regular file by its path, for reading. Blocks.
    ///
    /// - Parameters:
    ///   - path: absolute, or from the working directory; links above the last name are followed.
    ///   - followsLink: a link in the last place is followed, too; else it is `loop`.
    /// - Throws: `noEntry` for what is no regular file: a FIFO or a device is never opened.
    package static func openRegular(_ path: String, followsLink: Bool) throws(SystemError) -> FileDescriptor {
        let bytes = followsLink ? try realPath(path) : Array(path.utf8)
        // A name with NUL would be cut short by the system.
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
        // Something else may have taken its place since.
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

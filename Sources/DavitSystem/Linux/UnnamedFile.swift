#if os(Linux)
internal import CLinux
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension FileDescriptor {
    /// Creates a file without a name on the volume of this directory; it is deleted when its last descriptor
    /// is closed.
    ///
    /// - Throws: an error with ``SystemError/isUnsupported`` or `isDirectory` if the volume does not support
    ///   such files.
    package borrowing func openUnnamed(permissions: UInt32) throws(SystemError) -> FileDescriptor {
        let flags = Int32(DAVIT_O_TMPFILE) | O_DIRECTORY | O_RDWR | O_CLOEXEC
        let directory = rawValue
        let number = try FileCall.run("opentmpfile") {
            unsafe davit_openat(directory, ".", flags, permissions)
        }
        return FileDescriptor(owning: number)
    }

    /// Gives this unnamed file a name; throws `exists` if the name is taken.
    package borrowing func linkUnnamed(
        to directory: borrowing FileDescriptor, as name: [UInt8]
    ) throws(SystemError) {
        let (file, to) = (rawValue, directory.rawValue)
        try unsafe withCPath(name) { text throws(SystemError) in
            if !Self.needsProc.load(ordering: .relaxed) {
                do throws(SystemError) {
                    _ = try FileCall.run("linkat") {
                        unsafe linkat(file, "", to, text, Int32(DAVIT_AT_EMPTY_PATH))
                    }
                    return
                } catch {
                    // Kernels before 6.10 require a capability for this and return ENOENT without it. A
                    // removed directory also yields ENOENT; the fallback then fails the same way.
                    guard error.code == .noEntry || error.code == .notPermitted else { throw error }
                }
            }
            _ = try FileCall.run("linkat") {
                unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file)", to, text, AT_SYMLINK_FOLLOW)
            }
            Self.needsProc.store(true, ordering: .relaxed)
        }
    }

    private static let needsProc = Atomic<Bool>(false)
}
#endif

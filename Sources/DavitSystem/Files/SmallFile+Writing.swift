#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension SmallFile {
    /// Atomically replaces or creates a file: readers see either the old or the new content, even after a
    /// power failure.
    ///
    /// - Parameter mode: the permission bits of the new file; the umask does not apply.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(SystemError) {
        let temporary = path + ".new"
        // Remove the file of an earlier attempt that failed; concurrent writers are not supported.
        _ = unsafe remove(temporary)
        let number = try checked("open") {
            unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        }
        let file = FileDescriptor(owning: number)
        do throws(SystemError) {
            var written = 0
            while written < bytes.count {
                let count = unsafe bytes.withUnsafeBytes { all in
                    unsafe Self.write(number, UnsafeRawBufferPointer(rebasing: all[written...]))
                }
                guard count > 0 else { throw SystemError(errno: errno, call: "write") }
                written += count
            }
            _ = try checked("fchmod") { fchmod(number, mode_t(mode)) }
            try file.sync()
            _ = try checked("rename") { unsafe rename(temporary, path) }
        } catch {
            _ = unsafe remove(temporary)
            throw error
        }
    }

    /// Creates an empty file that only the owner can read and write, unless it exists.
    package static func createPrivate(at path: String) throws(SystemError) {
        let number = try checked("open") {
            unsafe open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        }
        _ = FileDescriptor(owning: number)
    }

    /// Calls the system's `write`, which the method of the same name would shadow.
    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        unsafe Musl.write(file, bytes.baseAddress, bytes.count)
        #else
        unsafe Darwin.write(file, bytes.baseAddress, bytes.count)
        #endif
    }
}

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension SmallFile {
    /// Replaces a file, or makes it: whoever reads it sees the old content or the new one, also after a loss of power.
    ///
    /// - Parameter mode: of the new file, whatever the process's umask says.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(SystemError) {
        let temporary = path + ".new"
        // What an earlier try left; nobody else writes here.
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

    /// The function of the system, which the method of that name would hide.
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

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a file so that every write appends to it. Creates the file with mode 0640 if it is missing. May
    /// block.
    /// - Parameter path: the path of the file; symbolic links are followed.
    package static func appending(to path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try checked("open") {
                openFile(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
            })
    }

    /// Duplicates the descriptor of standard error, so that closing the result leaves standard error open.
    package static func duplicateOfStandardError() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try checked("dup") { dup(2) })
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe open(path, flags, mode)
}

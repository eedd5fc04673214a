#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// Opens a reserve descriptor, to be closed when another one is needed; nil if none is left.
    package static func spare() -> FileDescriptor? {
        let number = openFile("/dev/null", O_RDONLY | O_CLOEXEC)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }
}

// Inside FileDescriptor, `open` would refer to the method of that name.
private func openFile(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags) }

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FileDescriptor {
    /// A descriptor that is good for nothing but being closed when one is needed; nil if none is left.
    package static func spare() -> FileDescriptor? {
        let number = openFile("/dev/null", O_RDONLY | O_CLOEXEC)
        return number < 0 ? nil : FileDescriptor(owning: number)
    }
}

// Inside FileDescriptor, `open` would be the method of that name.
private func openFile(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags) }

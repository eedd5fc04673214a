#if os(Linux)
internal import CLinux

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension FileDescriptor {
    /// Waits until the content and attributes of this file, or the entries of this directory, are on the
    /// disk.
    package borrowing func sync() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsync") { fsync(number) }
    }

    /// Waits until everything written to the volume of this file, by any process, is on the disk.
    package borrowing func syncVolume() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("syncfs") { davit_syncfs(number) }
    }
}
#endif

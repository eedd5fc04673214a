#if os(Linux)
internal import CLinux

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

extension FileDescriptor {
    /// Waits until this file with its attributes, or the names in this directory, are on the disk.
    package borrowing func sync() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsync") { fsync(number) }
    }

    /// Waits until everything written to the volume of this file is on the disk, whoever wrote it.
    package borrowing func syncVolume() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("syncfs") { davit_syncfs(number) }
    }
}
#endif

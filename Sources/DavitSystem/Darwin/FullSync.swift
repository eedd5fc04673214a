#if canImport(Darwin)
internal import Darwin

extension FileDescriptor {
    /// Waits until this file with its attributes, or the names in this directory, are on the disk and not only in
    /// the drive's own memory.
    package borrowing func sync() throws(SystemError) {
        let number = rawValue
        do {
            _ = try FileCall.run("fcntl-fullfsync") { fcntl(number, F_FULLFSYNC) }
        } catch {
            // Network volumes do not know it.
            guard error.isUnsupported else { throw error }
            _ = try FileCall.run("fsync") { fsync(number) }
        }
    }

    /// Waits until everything written to the volume of this file is on the disk, whoever wrote it.
    package borrowing func syncVolume() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsync_volume_np") {
            fsync_volume_np(number, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT)
        }
    }
}
#endif

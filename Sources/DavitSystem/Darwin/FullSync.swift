#if canImport(Darwin)
internal import Darwin

extension FileDescriptor {
    /// Waits until the content and attributes of this file, or the entries of this directory, are on stable
    /// storage and not only in the cache of the drive.
    package borrowing func sync() throws(SystemError) {
        let number = rawValue
        do {
            _ = try FileCall.run("fcntl-fullfsync") { fcntl(number, F_FULLFSYNC) }
        } catch {
            // Network volumes do not support F_FULLFSYNC.
            guard error.isUnsupported else { throw error }
            _ = try FileCall.run("fsync") { fsync(number) }
        }
    }

    /// Waits until everything written to the volume of this file, by any process, is on the disk.
    package borrowing func syncVolume() throws(SystemError) {
        let number = rawValue
        _ = try FileCall.run("fsync_volume_np") {
            fsync_volume_np(number, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT)
        }
    }
}
#endif

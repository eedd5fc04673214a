internal import DavitSystem

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Detects whether systemd's journal reads standard error.
package enum Journal {
    /// Whether standard error is the stream that systemd connected to the journal, and has not been
    /// redirected since then (`JOURNAL_STREAM`, systemd.exec(5)).
    package static var readsStandardError: Bool {
        guard let stream = Environment.variable("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(2, &status) == 0 else { return false }
        return names(stream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Returns whether `stream` identifies this device and inode.
    /// - Parameter stream: `DEVICE:INODE`, both decimal.
    package static func names(_ stream: String, device: UInt64, inode: UInt64) -> Bool {
        let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        return UInt64(parts[0]) == device && UInt64(parts[1]) == inode
    }
}

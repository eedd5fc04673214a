/// What one status call tells about a file.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Sendable { case regular, directory, symbolicLink, special }

    package var kind: Kind
    /// Permission bits, set-user, set-group and sticky bit: `0o7777`.
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32
    package var linkCount: UInt32
    package var inode: UInt64
    /// Device and, on Linux, mount: a rename crosses neither.
    package var volume: UInt64
    package var device: UInt64
    /// Bytes.
    package var length: Int64
    /// Bytes that the volume has allocated; less than ``length`` if there are holes.
    package var allocated: Int64
    /// Nanoseconds since the epoch; times that do not fit are clamped.
    package var modified: Int64
    /// When content or attributes last changed, in nanoseconds since the epoch: no program can set this time.
    package var changed: Int64
    /// Birth time in nanoseconds; nil where the volume has none.
    package var created: Int64?

    /// Tells files apart while they exist.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var inode: UInt64
    }

    package var identity: Identity { Identity(device: device, inode: inode) }

    /// Nanoseconds of a time, clamped to what an `Int64` holds: the years 1677 to 2262.
    package static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(fraction)
        return sumOverflow ? .max : sum
    }
}

/// The metadata of a file as returned by `stat`.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Sendable { case regular, directory, symbolicLink, special }

    package var kind: Kind
    /// The permission bits with the set-user-ID, set-group-ID and sticky bits: `0o7777`.
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32
    package var linkCount: UInt32
    package var inode: UInt64
    /// Identifies the device and, on Linux, the mount. A rename cannot cross volumes.
    package var volume: UInt64
    package var device: UInt64
    /// The size in bytes.
    package var length: Int64
    /// The allocated size in bytes; less than ``length`` if the file has holes.
    package var allocated: Int64
    /// The modification time in nanoseconds since the epoch; clamped to the range of `Int64`.
    package var modified: Int64
    /// The time of the last change of content or attributes, in nanoseconds since the epoch. Programs cannot
    /// set it.
    package var changed: Int64
    /// The creation time in nanoseconds since the epoch; nil if the volume does not store it.
    package var created: Int64?

    /// Identifies a file for as long as it exists.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var inode: UInt64
    }

    package var identity: Identity { Identity(device: device, inode: inode) }
}

/// Something that happened in a directory that is watched.
package struct DirectoryEvent: Sendable {
    package enum Kind: Sendable {
        /// A member has got this name.
        case arrived
        /// A member has lost this name.
        case left
        /// A member, or what is known of it, is other than before.
        case changed
        /// As `changed`, of a member that is a directory: it may be readable now, or no longer.
        case access
        /// The same of the watched directory itself, or it has gone to another place.
        case directory
        /// The directory is watched no longer: it has gone, or its volume.
        case ended
        /// There were more events than anybody has read: everything may have changed.
        case overflow
    }

    /// What the watch was given for the directory.
    package let key: Int32
    package let kind: Kind
    /// Of the member; empty where the event is about the directory.
    package let name: [UInt8]
}

/// A change in a watched directory.
package struct DirectoryEvent: Sendable {
    package enum Kind: Sendable {
        /// A member was created or moved to this name.
        case arrived
        /// A member was removed or moved away from this name.
        case left
        /// The content or metadata of a member has changed.
        case changed
        /// Like `changed`, for a member that is a directory: its permissions may have changed.
        case access
        /// The watched directory itself has changed, or was moved.
        case directory
        /// The directory is no longer watched, because it was removed or its volume was unmounted.
        case ended
        /// Events were lost, usually because the queue was full: anything may have changed.
        case overflow
    }

    /// The key that `watch` returned for the directory; meaningless for `overflow`.
    package let key: Int32
    package let kind: Kind
    /// Whether the member is or was a directory; false if unknown.
    package var isDirectory = false
    /// The name of the member; empty if the event concerns the directory itself.
    package let name: [UInt8]
}

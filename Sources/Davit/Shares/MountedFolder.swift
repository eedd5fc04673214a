extension WebDAVShare {
    /// A folder that is part of a share under a path of its own; see ``WebDAVShare/mounts``.
    public struct MountedFolder: Hashable, Sendable {
        /// The path in the share, such as `/team`. The folder above it must exist in the share; what the share contains
        /// at the path itself is hidden.
        public var path: String
        /// The folder.
        public var folder: String

        /// - Parameters:
        ///   - path: see ``path``.
        ///   - folder: see ``folder``.
        public init(_ path: String, folder: String) {
            self.path = path
            self.folder = folder
        }
    }
}

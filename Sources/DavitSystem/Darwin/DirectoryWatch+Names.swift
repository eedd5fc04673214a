#if canImport(Darwin)
internal import Darwin

extension DirectoryWatch {
    /// Nothing here tells names exactly as they come and go.
    /// - Throws: `ENOTSUP`, always.
    package static func ofNames() throws(SystemError) -> DirectoryWatch {
        throw SystemError(errno: ENOTSUP, call: "inotify_init1")
    }

    package func watch(descriptor: Int32) throws(SystemError) -> Int32 {
        throw SystemError(errno: ENOTSUP, call: "inotify_add_watch")
    }
}
#endif

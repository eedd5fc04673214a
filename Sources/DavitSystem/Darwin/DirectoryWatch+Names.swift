#if canImport(Darwin)
internal import Darwin

extension DirectoryWatch {
    /// Not supported: FSEvents does not report each creation and removal of a name.
    /// - Throws: `ENOTSUP`, always.
    package static func ofNames() throws(SystemError) -> DirectoryWatch {
        throw SystemError(errno: ENOTSUP, call: "inotify_init1")
    }

    package func watch(descriptor: Int32) throws(SystemError) -> Int32 {
        throw SystemError(errno: ENOTSUP, call: "inotify_add_watch")
    }
}
#endif

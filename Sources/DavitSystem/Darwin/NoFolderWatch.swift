#if canImport(Darwin)
internal import Darwin

/// Nothing here tells the names that appear in a folder: it is never made.
package final class FolderWatch: Sendable {
    package enum Event: Sendable {
        case appeared([UInt8], in: Int32)
        case disappeared([UInt8], in: Int32)
        case ended(Int32)
        case overflow
    }

    package init() throws(SystemError) { throw SystemError(errno: ENOTSUP, call: "inotify_init1") }

    package func add(_ folder: Int32) throws(SystemError) -> Int32 {
        throw SystemError(errno: ENOTSUP, call: "inotify_add_watch")
    }

    package func remove(_ folder: Int32) {}

    package func take(_ body: (Event) -> Void) {}
}
#endif

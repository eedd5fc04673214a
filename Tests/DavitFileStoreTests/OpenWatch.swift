import CLinux
import Glibc
import Testing

/// Counts how often a file is opened, by any process.
final class OpenWatch {
    private let queue: Int32

    init(_ path: String) throws {
        queue = inotify_init1(Int32(IN_NONBLOCK))
        try #require(queue >= 0)
        let watch = unsafe inotify_add_watch(queue, path, UInt32(IN_OPEN))
        try #require(watch >= 0)
    }

    deinit { close(queue) }

    /// The number of opens since this property was last read.
    var count: Int {
        var events = [UInt8](repeating: 0, count: 4096)
        let bytes = unsafe read(queue, &events, events.count)
        return max(bytes, 0) / MemoryLayout<inotify_event>.size
    }
}

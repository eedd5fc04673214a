#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Tells which names appear in folders and disappear from them, whoever on this machine does it (inotify(7)): what a
/// finished call has changed is there to be taken.
package final class FolderWatch: Sendable {
    /// What happened in a folder, which is known by the number that ``add(_:)`` gave it.
    package enum Event: Sendable {
        case appeared([UInt8], in: Int32)
        case disappeared([UInt8], in: Int32)
        /// The folder has gone, or its volume.
        case ended(Int32)
        /// The kernel kept no more events: nothing is known of any folder.
        case overflow
    }

    private let queue: FileDescriptor

    /// - Throws: also where there are too many watchers already.
    package init() throws(SystemError) {
        queue = FileDescriptor(
            owning: try FileCall.run("inotify_init1") {
                inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            })
    }

    /// - Parameter folder: an open descriptor.
    /// - Returns: a number for the folder; the same one if it is watched already.
    /// - Throws: `notSupported` for volumes that others than this machine change.
    package func add(_ folder: Int32) throws(SystemError) -> Int32 {
        guard davit_is_local(folder) != 0 else {
            throw SystemError(errno: EOPNOTSUPP, call: "inotify_add_watch")
        }
        let number = queue.rawValue
        let path = Array("/proc/self/fd/\(folder)".utf8)
        let mask = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM
        return try unsafe withCPath(path) { text throws(SystemError) in
            try FileCall.run("inotify_add_watch") {
                unsafe inotify_add_watch(number, text, UInt32(mask) | UInt32(IN_ONLYDIR))
            }
        }
    }

    package func remove(_ folder: Int32) { _ = inotify_rm_watch(queue.rawValue, folder) }

    /// Takes the events that are there, names in ASCII left out. Never waits.
    package func take(_ body: (Event) -> Void) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while case let count = unsafe read(queue.rawValue, buffer.baseAddress, buffer.count), count > 0 {
                unsafe Self.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
            }
        }
    }

    private static func parse(_ events: UnsafeRawBufferPointer, _ body: (Event) -> Void) {
        // struct inotify_event: watch (4), mask (4), cookie (4), length of the name with its padding (4), name.
        var offset = 0
        while offset + 16 <= events.count {
            let folder = unsafe events.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            let mask = unsafe events.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(unsafe events.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let end = min(offset + 16 + length, events.count)
            let name = unsafe events[(offset + 16)..<end].prefix { $0 != 0 }
            offset = end
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                body(.overflow)
            } else if mask & UInt32(IN_IGNORED) != 0 {
                body(.ended(folder))
            } else if unsafe name.contains(where: { $0 >= 0x80 }) {
                let isThere = mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0
                body(
                    isThere
                        ? .appeared(unsafe Array(name), in: folder)
                        : .disappeared(unsafe Array(name), in: folder))
            }
        }
    }
}
#endif

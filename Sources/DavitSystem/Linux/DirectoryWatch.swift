#if os(Linux)
internal import CLinux

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Reports changes to the members of directories through inotify(7), with one watch per directory and none
/// for its members.
///
/// The kernel queues an event before the call that caused it returns, so draining after a change delivers its
/// event. ``drain(_:)`` must be called by one thread at a time; the other methods by any thread.
package final class DirectoryWatch: Sendable {
    private static let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
    private static let everything =
        names | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK
    private static let blockBytes = 64 << 10

    private let queue: FileDescriptor
    private let waker: FileDescriptor
    private let mask: UInt32

    /// - Parameter roots: not used on this system.
    /// - Throws: an error if the user has too many inotify instances, or no descriptor is left.
    package convenience init(roots: [[UInt8]]) throws(SystemError) { try self.init(mask: Self.everything) }

    /// Creates a watch that reports only the creation, removal and renaming of members.
    /// - Throws: the errors that ``init(roots:)`` throws.
    package static func ofNames() throws(SystemError) -> DirectoryWatch { try DirectoryWatch(mask: names) }

    private init(mask: Int32) throws(SystemError) {
        self.mask = UInt32(bitPattern: mask)
        queue = FileDescriptor(
            owning: try FileCall.run("inotify_init1") { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) })
        waker = FileDescriptor(
            owning: try checked("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
    }

    /// Starts watching a directory.
    /// - Parameter directory: open in any mode.
    /// - Returns: the key that identifies the directory in events; the existing one if it is already watched.
    /// - Throws: `noSpace` if there are too many watches, `accessDenied` if the directory cannot be read.
    package func watch(_ directory: borrowing FileDescriptor) throws(SystemError) -> Int32 {
        try watch(descriptor: directory.rawValue)
    }

    /// Starts watching the directory that is open as `descriptor`, which must stay open during the call.
    package func watch(descriptor: Int32) throws(SystemError) -> Int32 {
        // Use the descriptor, because a path might lead elsewhere by now.
        let path = Array("/proc/self/fd/\(descriptor)".utf8)
        let (queue, mask) = (queue.rawValue, mask)
        return try unsafe withCPath(path) { text throws(SystemError) in
            try FileCall.run("inotify_add_watch") { unsafe inotify_add_watch(queue, text, mask) }
        }
    }

    /// Stops watching a directory. Events that are already queued are still delivered.
    package func unwatch(_ key: Int32) { _ = inotify_rm_watch(queue.rawValue, key) }

    /// Passes all currently queued events to `body`.
    package func drain(_ body: (DirectoryEvent) -> Void) {
        var left = davit_readable_bytes(queue.rawValue)
        guard left > 0 else { return }
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.blockBytes, alignment: 8) { buffer in
            // Stop after the events that were queued at the start: others may arrive faster than they are
            // read.
            while left > 0 {
                let count = unsafe read(queue.rawValue, buffer.baseAddress, buffer.count)
                if count == -1, errno == EINTR { continue }
                guard count > 0 else { return }
                left -= Int32(count)
                unsafe Self.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
            }
        }
    }

    private static func forEach(in block: UnsafeRawBufferPointer, _ body: (DirectoryEvent) -> Void) {
        // struct inotify_event: watch (4), mask (4), cookie (4), length (4), NUL-padded name.
        var offset = 0
        while offset + 16 <= block.count {
            let key = unsafe block.loadUnaligned(fromByteOffset: offset, as: Int32.self)
            let mask = unsafe block.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            let length = Int(unsafe block.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            let start = offset + 16
            offset = start + length
            guard offset <= block.count else { return }
            let name = unsafe Array(block[start..<offset].prefix { $0 != 0 })
            body(DirectoryEvent(key: key, mask: mask, name: name))
        }
    }

    /// Blocks until events are available or ``wake()`` is called.
    package func wait() {
        var polled = [
            pollfd(fd: queue.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&polled, 2, -1) == -1, errno == EINTR {}
    }

    /// Makes every current and future ``wait()`` return.
    package func wake() { _ = eventfd_write(waker.rawValue, 1) }
}

extension DirectoryEvent {
    fileprivate init(key: Int32, mask: UInt32, name: [UInt8]) {
        func has(_ bits: Int32) -> Bool { mask & UInt32(bitPattern: bits) != 0 }
        self.key = key
        self.name = name
        isDirectory = has(Int32(IN_ISDIR))
        if has(Int32(IN_Q_OVERFLOW)) {
            kind = .overflow
        } else if has(Int32(IN_IGNORED)) {
            kind = .ended
        } else if name.isEmpty {
            kind = .directory
        } else if has(Int32(IN_CREATE | IN_MOVED_TO)) {
            kind = .arrived
        } else if has(Int32(IN_DELETE | IN_MOVED_FROM)) {
            kind = .left
        } else {
            kind = has(Int32(IN_ATTRIB)) && has(Int32(IN_ISDIR)) ? .access : .changed
        }
    }
}
#endif

#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif
internal import Synchronization

/// Counts SIGHUP in a descriptor, for every queue of the process; like ``SignalPipe``, whichever thread it interrupts.
enum HangUpCounter {
    /// There for the rest of the life of the process.
    private static let counter = Mutex<Int32?>(nil)

    /// - Returns: a descriptor of the caller's own for the one counter, which nobody reads.
    static func watch() throws(SystemError) -> FileDescriptor {
        let shared = try counter.withLock { (counter) throws(SystemError) in
            if let counter { return counter }
            let made = try checked("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
            sharedCounter.store(made, ordering: .releasing)
            counter = made
            return made
        }
        let descriptor = FileDescriptor(owning: try checked("fcntl") { fcntl(shared, F_DUPFD_CLOEXEC, 0) })
        // What was counted before is not for the new queue.
        var old: UInt64 = 0
        _ = unsafe read(descriptor.rawValue, &old, MemoryLayout<UInt64>.size)
        _ = signal(SIGHUP) { _ in HangUpCounter.count() }
        return descriptor
    }

    /// Runs as the handler of the signal: nothing here allocates, locks, or calls what a handler may not call.
    private static func count() {
        let code = errno
        var one: UInt64 = 1
        _ = unsafe write(sharedCounter.load(ordering: .acquiring), &one, MemoryLayout<UInt64>.size)
        errno = code
    }
}

/// Outlives every handler.
private let sharedCounter = Atomic<Int32>(-1)
#endif

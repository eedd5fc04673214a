#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif
internal import Synchronization

/// Counts SIGHUP in an event descriptor for all queues of the process. Like ``SignalPipe``, it works on
/// whichever thread receives the signal.
enum SIGHUPCounter {
    /// The shared descriptor, which stays open for the rest of the process's lifetime.
    private static let counter = Mutex<Int32?>(nil)

    /// - Returns: a new descriptor of the shared counter, owned by the caller, who must not read from it.
    static func watch() throws(SystemError) -> FileDescriptor {
        let shared = try counter.withLock { (counter) throws(SystemError) in
            if let counter { return counter }
            let made = try checked("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
            sharedCounter.store(made, ordering: .releasing)
            counter = made
            return made
        }
        let descriptor = FileDescriptor(owning: try checked("fcntl") { fcntl(shared, F_DUPFD_CLOEXEC, 0) })
        // Discard earlier signals, which the new queue must not report.
        var old: UInt64 = 0
        _ = unsafe read(descriptor.rawValue, &old, MemoryLayout<UInt64>.size)
        _ = signal(SIGHUP) { _ in SIGHUPCounter.count() }
        return descriptor
    }

    /// Runs as the signal handler: it must not allocate, lock, or call functions that are not
    /// async-signal-safe.
    private static func count() {
        let code = errno
        var one: UInt64 = 1
        _ = unsafe write(sharedCounter.load(ordering: .acquiring), &one, MemoryLayout<UInt64>.size)
        errno = code
    }
}

/// A global, because it must outlive every handler.
private let sharedCounter = Atomic<Int32>(-1)
#endif

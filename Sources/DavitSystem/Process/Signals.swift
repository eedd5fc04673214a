internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Signal handling of the process.
package enum Signals {
    /// The signals that request a server to stop.
    package static let stopping: [Int32] = [SIGTERM, SIGINT]

    /// Ignores SIGPIPE, so that writing to a closed connection returns an error instead of terminating the
    /// process.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Prepares the process for programs that it starts: ignores SIGPIPE, because a program may end before it has read its
    /// input, and no longer ignores SIGCHLD, which a process can inherit and which discards exit statuses.
    package static func prepareForChildren() {
        ignoreBrokenPipes()
        let former = signal(SIGCHLD, SIG_DFL)
        // The handler of an application remains. SIG_IGN is the number 1 in place of a function.
        if unsafe unsafeBitCast(former, to: Int.self) != 1 { _ = signal(SIGCHLD, former) }
    }

    private static let listeners = Mutex<[(id: Int, notify: @Sendable (Int32) -> Void)]>([])

    /// Registers `notify`, which is called on any thread for each signal that any queue of the process
    /// receives, so that all servers of the process are notified. Not necessary if every queue receives each
    /// signal.
    /// - Returns: an identifier for ``stopListening(_:)``.
    package static func listen(_ notify: @escaping @Sendable (Int32) -> Void) -> Int {
        listeners.withLock { listeners in
            let id = (listeners.last?.id ?? 0) + 1
            listeners.append((id, notify))
            return id
        }
    }

    package static func stopListening(_ id: Int) {
        listeners.withLock { $0.removeAll { $0.id == id } }
    }

    /// Notifies all listeners of a signal that a queue has received.
    package static func notify(_ number: Int32) {
        for listener in listeners.withLock({ $0 }) { listener.notify(number) }
    }

    /// Blocks all signals on the calling thread.
    package static func blockAll() {
        var set = sigset_t()
        unsafe sigfillset(&set)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What the process does with signals.
package enum Signals {
    /// The signals that ask a server to stop.
    package static let stopping: [Int32] = [SIGTERM, SIGINT]

    /// A write to a socket whose peer is gone shall be an error, not the end of the process.
    package static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    private static let listeners = Mutex<[(id: Int, tell: @Sendable (Int32) -> Void)]>([])

    /// Has `tell` called, on any thread, for each signal that any queue of the process takes; a signal is for all who
    /// wait for it. Not where each queue gets signals of its own.
    /// - Returns: for ``stopListening(_:)``.
    package static func listen(_ tell: @escaping @Sendable (Int32) -> Void) -> Int {
        listeners.withLock { listeners in
            let id = (listeners.last?.id ?? 0) + 1
            listeners.append((id, tell))
            return id
        }
    }

    package static func stopListening(_ id: Int) {
        listeners.withLock { $0.removeAll { $0.id == id } }
    }

    /// Passes on what a queue has taken.
    package static func tell(_ number: Int32) {
        for listener in listeners.withLock({ $0 }) { listener.tell(number) }
    }

    /// Keeps all signals from the calling thread.
    package static func blockAll() {
        var set = sigset_t()
        unsafe sigfillset(&set)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}

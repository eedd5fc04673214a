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

    /// Keeps all signals from the calling thread: one that was started before ``block(_:)`` would be ended by them, and
    /// the process with it.
    package static func blockAll() {
        var set = sigset_t()
        unsafe sigfillset(&set)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Keeps signals from the calling thread and those it starts, so that a descriptor can report them.
    static func block(_ numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        return set
    }
}

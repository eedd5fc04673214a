#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif
internal import Synchronization

/// Makes a descriptor readable when a signal comes, whichever thread of the process that interrupts.
///
/// signalfd(2) would do it only where all threads block the signal. In a program with an asynchronous `main` the first thread
/// waits with sigsuspend(2) and an empty mask, which is libdispatch's doing: the signal would end the process.
enum SignalPipe {
    /// The other end of the pipe, which is there for the rest of the life of the process.
    private static let readingEnd = Mutex<Int32?>(nil)

    /// Has these signals reported; one pipe does for all that the process ever asks for.
    /// - Returns: a descriptor of the caller's own, from which a `signalfd_siginfo` can be read for each signal, once for all
    ///   such descriptors.
    static func watch(_ numbers: [Int32]) throws(SystemError) -> FileDescriptor {
        let reading = try readingEnd.withLock { (end) throws(SystemError) in
            if let end { return end }
            let made = try makePipe()
            end = made
            return made
        }
        let descriptor = FileDescriptor(
            owning: try checked("fcntl") { fcntl(reading, F_DUPFD_CLOEXEC, 0) })
        for number in numbers { _ = signal(number) { SignalPipe.relay($0) } }
        return descriptor
    }

    private static func makePipe() throws(SystemError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        _ = try checked("pipe2") { unsafe davit_pipe2(&ends, O_CLOEXEC | O_NONBLOCK) }
        writingEnd.store(ends[1], ordering: .releasing)
        return ends[0]
    }

    /// Runs as the handler of a signal: nothing here allocates, locks, or calls what a handler may not call. The record is
    /// written whole or, into a full pipe, not at all; then others of the kind wait there already.
    private static func relay(_ number: Int32) {
        let code = errno
        var record = signalfd_siginfo()
        record.ssi_signo = UInt32(number)
        _ = unsafe write(
            writingEnd.load(ordering: .acquiring), &record, MemoryLayout<signalfd_siginfo>.size)
        errno = code
    }
}

/// Of the pipe; outlives every handler.
private let writingEnd = Atomic<Int32>(-1)
#endif

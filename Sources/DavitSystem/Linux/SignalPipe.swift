#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif
internal import Synchronization

/// Makes a descriptor readable when a signal arrives, regardless of the thread that receives it.
///
/// signalfd(2) would require all threads to block the signal. In a program with an asynchronous `main`,
/// libdispatch makes the main thread wait in sigsuspend(2) with an empty mask, so the signal would terminate
/// the process.
enum SignalPipe {
    /// The read end of the pipe, which stays open for the rest of the process's lifetime.
    private static let readingEnd = Mutex<Int32?>(nil)

    /// Reports these signals through the pipe, which all callers share.
    /// - Returns: a new descriptor, owned by the caller, from which a `signalfd_siginfo` can be read for each
    ///   signal. Each record is delivered to only one of these descriptors.
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

    /// Runs as the signal handler: it must not allocate, lock, or call functions that are not
    /// async-signal-safe. The record is written completely or, if the pipe is full, not at all; the
    /// pipe then still contains earlier records.
    private static func relay(_ number: Int32) {
        let code = errno
        var record = signalfd_siginfo()
        record.ssi_signo = UInt32(number)
        _ = unsafe write(
            writingEnd.load(ordering: .acquiring), &record, MemoryLayout<signalfd_siginfo>.size)
        errno = code
    }
}

/// The write end of the pipe. A global, because it must outlive every handler.
private let writingEnd = Atomic<Int32>(-1)
#endif

#if os(Linux)
internal import CLinux
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// An event queue that uses epoll(7), edge-triggered except for listening sockets.
///
/// The event buffer, `signals` and `sighups` belong to the waiting thread; `queue` and `waker` never change.
/// This justifies the unchecked conformance.
@safe package final class Epoll: EventQueue, @unchecked Sendable {
    private static let batch = 256

    private let queue: FileDescriptor
    private let waker: FileDescriptor
    private var signals: FileDescriptor?
    private var sighups: FileDescriptor?
    private let events: UnsafeMutablePointer<epoll_event>

    package init() throws(SystemError) {
        queue = FileDescriptor(
            owning: try checked("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
        waker = FileDescriptor(
            owning: try checked("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
        unsafe events = .allocate(capacity: Self.batch)
        // Edge-triggered: each write is a new event, so there is no need to read the counter.
        try control(EPOLL_CTL_ADD, waker.rawValue, DAVIT_EPOLL_NOTICE, EventToken.wake)
    }

    deinit { unsafe events.deallocate() }

    package func watch(_ descriptor: Int32, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, DAVIT_EPOLL_STREAM, token)
    }

    package func watchAccepting(_ descriptor: Int32, token: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, DAVIT_EPOLL_LEVEL, token)
    }

    package func unwatch(_ descriptor: Int32) {
        // Fails if the descriptor is not watched, which is harmless.
        _ = try? control(EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    package func watchSignals(_ numbers: [Int32]) throws(SystemError) {
        let descriptor = try SignalPipe.watch(numbers)
        try control(EPOLL_CTL_ADD, descriptor.rawValue, DAVIT_EPOLL_NOTICE, EventToken.signal)
        signals = consume descriptor
    }

    package static let signalsReachEveryQueue = false

    package func takeSignals() -> [Int32] {
        var numbers: [Int32] = []
        guard let descriptor = signals?.rawValue else { return numbers }
        var info = signalfd_siginfo()
        // Read all records, because unread ones would be reported to the next queue that watches signals.
        while unsafe read(descriptor, &info, MemoryLayout.size(ofValue: info)) > 0 {
            numbers.append(Int32(info.ssi_signo))
        }
        return numbers
    }

    package func watchSIGHUP() throws(SystemError) {
        let descriptor = try SIGHUPCounter.watch()
        // Edge-triggered: each signal is a new event for every queue, so there is no need to read the
        // counter.
        try control(EPOLL_CTL_ADD, descriptor.rawValue, DAVIT_EPOLL_NOTICE, EventToken.sighup)
        sighups = consume descriptor
    }

    package func wait(milliseconds: Int32) -> Int {
        let count = unsafe epoll_wait(queue.rawValue, events, Int32(Self.batch), milliseconds)
        return max(0, Int(count))
    }

    package func event(at index: Int) -> IOEvent {
        let raw = unsafe events[index]
        let bits = unsafe raw.events
        var event = unsafe IOEvent(token: raw.data.u64)
        event.isReadable = bits & DAVIT_EPOLL_READABLE != 0
        event.isWritable = bits & DAVIT_EPOLL_WRITABLE != 0
        event.isBroken = bits & DAVIT_EPOLL_BROKEN != 0
        event.hasEnded = bits & (DAVIT_EPOLL_ENDED | DAVIT_EPOLL_BROKEN) != 0
        return event
    }

    package func wake() {
        _ = eventfd_write(waker.rawValue, 1)
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ bits: UInt32, _ token: UInt64
    ) throws(SystemError) {
        var event = unsafe epoll_event()
        unsafe event.events = bits
        unsafe event.data.u64 = token
        let code = unsafe epoll_ctl(queue.rawValue, operation, descriptor, &event)
        if code == -1 { throw SystemError(errno: errno, call: "epoll_ctl") }
    }
}
#endif

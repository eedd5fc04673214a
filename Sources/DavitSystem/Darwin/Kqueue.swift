#if canImport(Darwin)
internal import Darwin

/// An event queue that uses kqueue(2), with `EV_CLEAR` except for listening sockets.
///
/// The event buffer and `signals` belong to the waiting thread; `queue` never changes. This justifies the
/// unchecked conformance.
@safe package final class Kqueue: EventQueue, @unchecked Sendable {
    private static let batch = 256

    private let queue: FileDescriptor
    private let events: UnsafeMutablePointer<kevent>
    private var signals: [Int32] = []

    package init() throws(SystemError) {
        queue = FileDescriptor(owning: try checked("kqueue") { kqueue() })
        unsafe events = .allocate(capacity: Self.batch)
        _ = fcntl(queue.rawValue, F_SETFD, FD_CLOEXEC)
        try change(0, EVFILT_USER, EV_ADD | EV_CLEAR, EventToken.wake)
    }

    deinit { unsafe events.deallocate() }

    package func watch(_ descriptor: Int32, token: UInt64) throws(SystemError) {
        try change(UInt(descriptor), EVFILT_READ, EV_ADD | EV_CLEAR, token)
        try change(UInt(descriptor), EVFILT_WRITE, EV_ADD | EV_CLEAR, token)
    }

    package func watchAccepting(_ descriptor: Int32, token: UInt64) throws(SystemError) {
        try change(UInt(descriptor), EVFILT_READ, EV_ADD, token)
    }

    package func unwatch(_ descriptor: Int32) {
        // Fails if the filter does not exist, which is harmless.
        _ = try? change(UInt(descriptor), EVFILT_READ, EV_DELETE, 0)
        _ = try? change(UInt(descriptor), EVFILT_WRITE, EV_DELETE, 0)
    }

    package func watchSignals(_ numbers: [Int32]) throws(SystemError) {
        try report(numbers, EventToken.signal)
    }

    package func watchSIGHUP() throws(SystemError) { try report([SIGHUP], EventToken.sighup) }

    private func report(_ numbers: [Int32], _ token: UInt64) throws(SystemError) {
        for number in numbers {
            // EVFILT_SIGNAL reports signals in addition to their disposition, so the default disposition must
            // be replaced.
            _ = signal(number, SIG_IGN)
            try change(UInt(number), EVFILT_SIGNAL, EV_ADD | EV_CLEAR, token)
        }
    }

    package static let signalsReachEveryQueue = true

    package func takeSignals() -> [Int32] {
        defer { signals = [] }
        return signals
    }

    package func wait(milliseconds: Int32) -> Int {
        var limit = timespec(
            tv_sec: Int(milliseconds) / 1000, tv_nsec: Int(milliseconds) % 1000 * 1_000_000)
        let count =
            unsafe milliseconds < 0
            ? kevent(queue.rawValue, nil, 0, events, Int32(Self.batch), nil)
            : kevent(queue.rawValue, nil, 0, events, Int32(Self.batch), &limit)
        return max(0, Int(count))
    }

    package func event(at index: Int) -> IOEvent {
        let raw = unsafe events[index]
        var event = unsafe IOEvent(token: UInt64(UInt(bitPattern: raw.udata)))
        let isAtEnd = Int32(unsafe raw.flags) & EV_EOF != 0
        switch Int32(unsafe raw.filter) {
        case EVFILT_READ:
            event.isReadable = true
            event.hasEnded = isAtEnd
        case EVFILT_WRITE:
            event.isWritable = true
            // For the write filter, EV_EOF means that the peer no longer receives.
            event.hasEnded = isAtEnd
            event.isBroken = isAtEnd
        case EVFILT_SIGNAL: signals.append(Int32(truncatingIfNeeded: unsafe raw.ident))
        default: break
        }
        return event
    }

    package func wake() {
        var note = unsafe kevent(
            ident: 0, filter: Int16(EVFILT_USER), flags: 0, fflags: UInt32(NOTE_TRIGGER), data: 0,
            udata: UnsafeMutableRawPointer(bitPattern: UInt(EventToken.wake)))
        _ = unsafe kevent(queue.rawValue, &note, 1, nil, 0, nil)
    }

    private func change(
        _ ident: UInt, _ filter: Int32, _ flags: Int32, _ token: UInt64
    ) throws(SystemError) {
        var entry = unsafe kevent(
            ident: ident, filter: Int16(filter), flags: UInt16(flags), fflags: 0, data: 0,
            udata: UnsafeMutableRawPointer(bitPattern: UInt(token)))
        let code = unsafe kevent(queue.rawValue, &entry, 1, nil, 0, nil)
        if code == -1 { throw SystemError(errno: errno, call: "kevent") }
    }
}
#endif

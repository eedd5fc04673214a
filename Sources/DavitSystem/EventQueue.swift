/// Readiness of descriptors, for one thread that waits.
///
/// Only ``wake()`` may be called from another thread.
package protocol EventQueue: AnyObject, Sendable {
    init() throws(SystemError)

    /// Reports every change of readability, writability and hang-up from now on, once for each change.
    /// - Parameter token: comes back with each event; ``EventToken/wake`` and its neighbours are taken.
    func watch(_ descriptor: Int32, token: UInt64) throws(SystemError)

    /// Reports readability as long as it lasts: for sockets that accept.
    func watchAccepting(_ descriptor: Int32, token: UInt64) throws(SystemError)

    /// Ends reports. Closing the last copy of a descriptor does it too.
    func unwatch(_ descriptor: Int32)

    /// Reports these signals as ``EventToken/signal``, whichever thread they reach.
    func watchSignals(_ signals: [Int32]) throws(SystemError)

    /// What has come, to be asked after such an event; empty if another queue has taken it.
    func takeSignals() -> [Int32]

    /// True if every queue that watches a signal gets it, false if only one of them does.
    static var signalsReachEveryQueue: Bool { get }

    /// Reports SIGHUP as ``EventToken/hangUp``, once for each, as ``watchSignals(_:)`` does.
    func watchHangUp() throws(SystemError)

    /// Waits for events.
    /// - Parameter milliseconds: how long at most; 0 asks only, a negative number waits without end.
    /// - Returns: how many events there are to be read with ``event(at:)``; 0 after the time.
    func wait(milliseconds: Int32) -> Int

    /// An event of the last ``wait(milliseconds:)``.
    func event(at index: Int) -> Event

    /// Ends the present or the next ``wait(milliseconds:)`` with an event of ``EventToken/wake``.
    func wake()
}

/// What happened to a descriptor.
package struct Event: Sendable {
    package var token: UInt64
    package var isReadable = false
    package var isWritable = false
    /// The peer sends no more: everything up to the end can be read without waiting.
    package var hasEnded = false
    /// Neither direction works any longer.
    package var isBroken = false

    package init(token: UInt64) { self.token = token }
}

/// Tokens that no descriptor of a caller has.
package enum EventToken {
    package static let wake = UInt64.max
    package static let signal = UInt64.max - 1
    package static let hangUp = UInt64.max - 2
}

#if os(Linux)
package typealias SystemEventQueue = Epoll
#else
package typealias SystemEventQueue = Kqueue
#endif

/// Reports the readiness of descriptors to one waiting thread.
///
/// Once a thread waits, only ``wake()`` may be called from other threads.
package protocol EventQueue: AnyObject, Sendable {
    init() throws(SystemError)

    /// Reports each change of readability, writability and hang-up once (edge-triggered).
    /// - Parameter token: included in each event; must not be one of the values in ``EventToken``.
    func watch(_ descriptor: Int32, token: UInt64) throws(SystemError)

    /// Reports readability for as long as it lasts (level-triggered), for listening sockets.
    func watchAccepting(_ descriptor: Int32, token: UInt64) throws(SystemError)

    /// Stops reporting events of a descriptor. Closing its last copy has the same effect.
    func unwatch(_ descriptor: Int32)

    /// Reports these signals as ``EventToken/signal``, regardless of the thread that receives them.
    func watchSignals(_ signals: [Int32]) throws(SystemError)

    /// Returns the signals that have arrived; called after a signal event. Empty if another queue has taken
    /// them.
    func takeSignals() -> [Int32]

    /// Whether every queue that watches a signal receives it, rather than only one of them.
    static var signalsReachEveryQueue: Bool { get }

    /// Reports SIGHUP as ``EventToken/sighup``, to every queue that watches it.
    func watchSIGHUP() throws(SystemError)

    /// Waits for events.
    /// - Parameter milliseconds: the timeout; 0 returns immediately, a negative number waits indefinitely.
    /// - Returns: the number of events to read with ``event(at:)``; 0 on timeout.
    func wait(milliseconds: Int32) -> Int

    /// Returns an event of the last ``wait(milliseconds:)``.
    func event(at index: Int) -> IOEvent

    /// Ends the current or next ``wait(milliseconds:)`` with an event of ``EventToken/wake``.
    func wake()
}

/// A readiness event of a descriptor.
package struct IOEvent: Sendable {
    package var token: UInt64
    package var isReadable = false
    package var isWritable = false
    /// The peer has closed its sending side: everything up to the end can be read without waiting.
    package var hasEnded = false
    /// The connection is unusable in both directions.
    package var isBroken = false

    package init(token: UInt64) { self.token = token }
}

/// Reserved tokens, which must not be used for descriptors.
package enum EventToken {
    package static let wake = UInt64.max
    package static let signal = UInt64.max - 1
    package static let sighup = UInt64.max - 2
}

/// Tracks whether clients are connected. The end of the last connection is reported with a delay, because
/// clients often close a connection and open another.
///
/// Times are nanoseconds of the caller's clock. At most one timer is pending.
package struct ConnectedState: Sendable {
    package enum Action: Hashable, Sendable {
        case tellConnected, tellDisconnected
        /// Call ``timerFired(now:)`` after this time; later is allowed.
        case startTimer(nanoseconds: Int64)
    }

    private let interval: Int64
    /// The state that was reported last.
    package private(set) var isConnected = false
    /// The time at which to report the end of the last connection; nil if no such report is pending.
    private var deadline: Int64?
    private var hasTimer = false

    /// - Parameter interval: the delay; 0 or less reports the end of the last connection immediately.
    package init(interval: Int64) { self.interval = interval }

    /// Handles the first connection.
    package mutating func becameOccupied() -> Action? {
        deadline = nil
        guard !isConnected else { return nil }
        isConnected = true
        return .tellConnected
    }

    /// Handles the end of the last connection.
    package mutating func becameVacant(now: Int64) -> Action? {
        guard isConnected else { return nil }
        if interval <= 0 {
            isConnected = false
            return .tellDisconnected
        }
        deadline = now + interval
        return startTimer(nanoseconds: interval)
    }

    package mutating func timerFired(now: Int64) -> Action? {
        hasTimer = false
        guard let deadline else { return nil }
        if now < deadline { return startTimer(nanoseconds: deadline - now) }
        self.deadline = nil
        isConnected = false
        return .tellDisconnected
    }

    /// Handles the stop of the server, which cancels timers.
    package mutating func serverStopped() -> Action? {
        hasTimer = false
        deadline = nil
        guard isConnected else { return nil }
        isConnected = false
        return .tellDisconnected
    }

    private mutating func startTimer(nanoseconds: Int64) -> Action? {
        if hasTimer { return nil }
        hasTimer = true
        return .startTimer(nanoseconds: nanoseconds)
    }
}

/// Whether clients are connected, told with a delay: a client that closes one connection and opens the next has
/// not gone away.
///
/// Times are nanoseconds of the caller's clock. At most one timer is under way.
package struct ConnectedState: Sendable {
    package enum Action: Hashable, Sendable {
        case tellConnected, tellDisconnected
        /// Calls ``timerFired(now:)`` after so long; later does no harm.
        case startTimer(nanoseconds: Int64)
    }

    private let interval: Int64
    /// What was told last.
    package private(set) var isConnected = false
    /// When the end of the last connection is told; nil while there are some, or none was told.
    private var deadline: Int64?
    private var hasTimer = false

    /// - Parameter interval: 0 or less tells the end of the last connection at once.
    package init(interval: Int64) { self.interval = interval }

    /// The first connection is open.
    package mutating func becameOccupied() -> Action? {
        deadline = nil
        guard !isConnected else { return nil }
        isConnected = true
        return .tellConnected
    }

    /// The last connection is closed.
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

    /// The server has stopped, and its timers with it.
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

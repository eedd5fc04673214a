/// Whether another service responds. While it does not, one request asks it from time to time, and the others are refused
/// without waiting for it.
///
/// Times are nanoseconds of a monotonic clock.
struct ServiceOutage: Sendable {
    /// An event for the log.
    enum Event { case began, ended }

    /// Seconds during which a service that did not respond is not asked again.
    static let retrySeconds: Int64 = 5

    /// When the service may be asked again; nil while it responds.
    private var retry: Int64?
    /// Whether it is being asked during an outage.
    private var isProbing = false

    /// Returns the seconds until the service may be asked; nil if it may be asked now. The caller must then ask it and call
    /// ``record(isAvailable:now:)``.
    mutating func wait(now: Int64) -> Int64? {
        guard let retry else { return nil }
        if isProbing { return Self.retrySeconds }
        guard retry <= now else { return (retry - now - 1) / 1_000_000_000 + 1 }
        isProbing = true
        return nil
    }

    /// Records whether the service has responded.
    /// - Returns: the event, if this begins or ends an outage.
    mutating func record(isAvailable: Bool, now: Int64) -> Event? {
        let hadOutage = retry != nil
        isProbing = false
        if isAvailable {
            retry = nil
            return hadOutage ? .ended : nil
        }
        retry = now + Self.retrySeconds * 1_000_000_000
        return hadOutage ? nil : .began
    }
}

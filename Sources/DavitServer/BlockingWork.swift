/// Runs work that may block, away from the event loop of the caller.
///
/// The work is a synchronous closure that gets plain values and returns plain values: connection state
/// belongs to the loop and is never touched from here.
public protocol BlockingWork: Sendable {
    /// Runs `work` on another thread and resumes the caller where it was.
    /// - Returns: nil when too much work waits already; the request gets 503 with Retry-After.
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T?
}

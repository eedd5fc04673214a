/// Runs work that may block, away from the event loop of the caller.
///
/// The work is a synchronous closure that gets plain values and returns plain values: connection state
/// belongs to the loop and is never touched from here.
public protocol BlockingWork: Sendable {
    /// Runs `work` on another thread and resumes the caller where it was.
    /// - Returns: nil when too much work waits already; the request gets 503 with Retry-After.
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T?

    /// Runs work that may take longer than 20 milliseconds or move more than 8 MiB, on threads that short work does not
    /// need. Clients take turns.
    ///
    /// Unless it cleans up, the work is dropped, or stops at its next checkpoint, when the calling task is cancelled.
    /// - Parameters:
    ///   - client: the account or the address that is charged for it.
    ///   - stage: where in its request the work is.
    /// - Returns: nil when it was dropped, or too much work of this client or of all waits already: 503 with Retry-After.
    func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T?
}

/// Where in its request a piece of long work is.
public enum LongWorkStage: Sendable {
    /// The request has done nothing so far, and can be refused.
    case begins
    /// An earlier piece of the request was admitted: this one is, too.
    case continues
    /// Removes what is left of a change. Always admitted and never cancelled.
    case cleansUp
}

extension BlockingWork {
    /// Runs long work as short work, where there are no threads for it.
    public func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T? { await run(work) }
}

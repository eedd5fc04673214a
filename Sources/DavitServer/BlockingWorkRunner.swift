/// Runs work that may block, on threads other than the caller's event loop.
///
/// The work is a synchronous closure that takes and returns plain values. Connection state belongs to the
/// event loop; the work must not access it.
public protocol BlockingWorkRunner: Sendable {
    /// Runs `work` on another thread, then resumes the caller on its own executor.
    /// - Returns: nil if too much work is queued; the request then fails with 503 and Retry-After.
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T?

    /// Like ``run(_:)``, for brief work that in parallel would wait for other work of the same sequence, for example for
    /// a lock in the kernel. It may run after that work instead.
    /// - Parameter sequence: a number that identifies the sequence.
    func run<T: Sendable>(sequence: Int, _ work: @escaping @Sendable () -> T) async -> T?

    /// Like ``run(_:)``, for work that usually takes much less than a millisecond, and blocks only where a disk has to
    /// be read. May run it on the caller's event loop, which another thread continues if the work takes longer.
    func runBriefly<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T?

    /// Runs work that may take longer than 20 milliseconds or process more than 8 MiB, on threads that short
    /// work does not use. Clients take turns.
    ///
    /// When the calling task is cancelled, work that has not started is discarded, and running work stops at
    /// its next checkpoint. Work in the stage ``LongWorkStage/cleansUp`` always runs to completion.
    /// - Parameters:
    ///   - client: the account or address to which the work is charged.
    ///   - stage: the position of the work within its request.
    /// - Returns: nil if the work was discarded, or if too much work of this client or of all clients is
    ///   queued; the request then fails with 503 and Retry-After.
    func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T?
}

/// The position of long work within its request.
public enum LongWorkStage: Sendable {
    /// The request has had no effect so far and can be refused.
    case begins
    /// An earlier part of the request was admitted, so this part is admitted too.
    case continues
    /// Cleans up after a change. Always admitted and never cancelled.
    case cleansUp
}

extension BlockingWorkRunner {
    /// Runs work of a sequence like other work.
    public func run<T: Sendable>(sequence: Int, _ work: @escaping @Sendable () -> T) async -> T? {
        await run(work)
    }

    /// Runs brief work like other work.
    public func runBriefly<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { await run(work) }

    /// Runs long work as short work, for implementations without separate threads.
    public func runLong<T: Sendable>(
        for client: String, _ stage: LongWorkStage, _ work: @escaping @Sendable () -> T
    ) async -> T? { await run(work) }
}

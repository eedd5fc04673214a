/// Checkpoints that long-running code calls between its steps.
///
/// On threads other than those of ``LongWorkThreads`` the calls do nothing. Never call them while holding a
/// lock: a paused job would hold it until its next turn.
package enum LongWork {
    /// The job of the calling thread.
    @TaskLocal static var current: LongJob?

    /// Pauses the job if its slice is used up and another job can run, and returns when it gets its next
    /// turn.
    /// - Parameter bytes: the number of bytes processed since the last call.
    /// - Throws: `cancelled` if the job is cancelable, and its result is no longer needed or the threads are
    ///   being shut down.
    package static func checkpoint(bytes: Int = 0) throws(SystemError) {
        guard let job = current else { return }
        job.advance(bytes)
        if job.isCancelled { throw .cancelled }
    }

    /// Like ``checkpoint(bytes:)``, for work that must not be canceled.
    package static func pause() { current?.advance(0) }

    /// The maximum number of bytes that one system call should transfer.
    package static var pieceBytes: Int { current.map { min($0.sliceBytes, 1 << 20) } ?? 1 << 30 }
}

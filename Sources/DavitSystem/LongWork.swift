/// What code that runs for long calls between two of its steps.
///
/// On other threads than those of ``LongWorkThreads`` the calls do nothing. Never call them while a lock is held: a
/// paused job would keep it until its next turn.
package enum LongWork {
    /// The job of the calling thread.
    @TaskLocal static var current: LongJob?

    /// Ends the slice when it is used up, and returns when the job has its next turn.
    /// - Parameter bytes: bytes that were moved since the last call.
    /// - Throws: `cancelled` once the result is no longer needed.
    package static func checkpoint(bytes: Int = 0) throws(SystemError) {
        guard let job = current else { return }
        job.advance(bytes)
        if job.isCancelled { throw .cancelled }
    }

    /// As ``checkpoint(bytes:)`` for work that has to be completed.
    package static func pause() { current?.advance(0) }

    /// Bytes that one system call should move at most.
    package static var pieceBytes: Int { current.map { min($0.sliceBytes, 1 << 20) } ?? 1 << 30 }
}

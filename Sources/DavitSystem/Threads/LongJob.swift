internal import Synchronization

/// A job of ``LongWorkThreads``.
///
/// The lock of ``LongWorkThreads`` guards `phase`, `number`, `hasBegun` and `turn`, and `hasCaller` is
/// atomic. The other variables belong to the caller until the job is queued, and then to the thread that runs
/// or drops the job. This justifies the unchecked conformance.
@safe package final class LongJob: @unchecked Sendable {
    package enum Phase { case new, waiting, running, paused, ended }

    package let client: String
    let isCancellable: Bool
    private unowned let threads: LongWorkThreads
    private var work: (() -> Void)?
    private let hasCaller = Atomic<Bool>(true)

    var phase = Phase.new
    /// Orders the jobs of one client.
    var number: UInt64 = 0
    var hasBegun = false
    /// Signaled when a paused job gets its next turn. Nil before the first pause.
    var turn: Monitor<Bool>?

    /// Resumed once, when the job has ended or will never run.
    var continuation: UnsafeContinuation<Void, Never>?
    private var bytesLeft = 0
    private var sliceEnd = ContinuousClock.now

    package init(
        for client: String, isCancellable: Bool, in threads: LongWorkThreads,
        _ work: @escaping @Sendable () -> Void
    ) {
        self.client = client
        self.isCancellable = isCancellable
        self.threads = threads
        self.work = work
    }

    /// Whether the job is to be aborted, because its caller no longer waits or the threads are shut down.
    var isCancelled: Bool {
        isCancellable && (!hasCaller.load(ordering: .relaxed) || threads.isEnding)
    }

    /// Marks that the caller no longer waits for the result. Can be called on any thread.
    func abandon() { hasCaller.store(false, ordering: .relaxed) }

    var sliceBytes: Int { threads.limits.sliceBytes }

    /// Runs the work on the calling thread.
    func run() {
        beginSlice()
        LongWork.$current.withValue(self) { work?() }
        work = nil
    }

    /// Resumes the caller.
    func finish() {
        work = nil
        let waiting = unsafe continuation
        unsafe continuation = nil
        unsafe waiting?.resume()
    }

    /// Counts work done, and pauses at the end of a slice if another job is waiting.
    func advance(_ bytes: Int) {
        bytesLeft -= bytes
        if bytesLeft > 0, ContinuousClock.now < sliceEnd { return }
        threads.endSlice(of: self)
        beginSlice()
    }

    private func beginSlice() {
        bytesLeft = threads.limits.sliceBytes
        sliceEnd = ContinuousClock.now + threads.limits.slice
    }
}

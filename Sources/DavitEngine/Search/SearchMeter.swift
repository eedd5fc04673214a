internal import Synchronization

/// The reason why the evaluation of a query stops within a resource.
enum SearchStop: Error {
    /// The limit of time or steps for this piece is reached, and the search resumes in the next piece; or the
    /// client has disconnected.
    case paused
    /// The search has exceeded its step limit.
    case exhausted
    case failed(WebDAVError)
}

/// A flag that is set when the client of a search disconnects, and that the evaluating thread reads.
final class SearchCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    func cancel() { flag.store(true, ordering: .relaxed) }
}

/// Measures the work of a search, and decides when to pause or end it. A search runs in pieces, between which
/// its thread serves other jobs.
///
/// The unit is a step: roughly the processing of one character of text, a few nanoseconds. Belongs to one
/// ``SearchRun``.
final class SearchMeter {
    /// Steps between two checks of the clock and of the cancellation: far less than a millisecond.
    private static let stepsBetweenChecks = 16_384
    /// Maximum duration of a piece, after which the thread serves other jobs.
    private static let pieceDuration = Duration.milliseconds(15)

    private let cancellation: SearchCancellation
    private let limit: Int
    private let pieceSteps: Int
    @safe @exclusivity(unchecked) private var spent = 0
    @safe @exclusivity(unchecked) private var nextCheck = 0
    @safe @exclusivity(unchecked) private var pieceEnd = 0
    @safe @exclusivity(unchecked) private var deadline = ContinuousClock.now

    /// - Parameters:
    ///   - limit: Maximum steps of the whole search.
    ///   - pieceSteps: Maximum steps of a piece.
    ///   - cancellation: Ends the piece when it is cancelled.
    init(limit: Int, pieceSteps: Int, cancellation: SearchCancellation) {
        self.cancellation = cancellation
        self.limit = limit
        self.pieceSteps = max(1, pieceSteps)
    }

    func beginPiece() {
        deadline = ContinuousClock.now + Self.pieceDuration
        pieceEnd = spent + pieceSteps
        nextCheck = min(nextCheck, spent)
    }

    /// Whether the piece must end, so that the thread can serve other jobs.
    func isPieceOver(checksClock: Bool = true) -> Bool {
        spent >= pieceEnd || cancellation.isCancelled || (checksClock && ContinuousClock.now >= deadline)
    }

    /// Counts completed work, and throws if the evaluation must stop. The caller must save its results first.
    func charge(_ steps: Int) throws(SearchStop) {
        spent += steps
        guard spent >= nextCheck else { return }
        if spent > limit { throw .exhausted }
        if isPieceOver() { throw .paused }
        nextCheck = min(spent + Self.stepsBetweenChecks, limit + 1, pieceEnd)
    }

    /// Counts work without stopping; the next ``charge(_:)`` stops if necessary.
    func add(_ steps: Int) { spent += steps }
}

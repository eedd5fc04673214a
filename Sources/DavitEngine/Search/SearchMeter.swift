internal import Synchronization

/// Why the evaluation of a query stops inside a resource.
enum SearchStop: Error {
    /// The piece is over, or the client has disconnected: resume in the next piece, if there is one.
    case paused
    /// The search has used up its steps.
    case exhausted
    case failed(WebDAVError)
}

/// Set when the client of a search has disconnected. Read on the thread that evaluates.
final class SearchCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    func cancel() { flag.store(true, ordering: .relaxed) }
}

/// Counts the work of one search, and says when to stop: at the end of a piece, or permanently.
///
/// The unit is a step: about one character of a text that is looked at, some nanoseconds. Belongs to one ``SearchRun``.
final class SearchMeter {
    /// Steps until the clock and the cancellation are looked at again: far less than a millisecond.
    private static let stepsBetweenChecks = 16_384
    /// The longest time of a piece, after which the thread serves others.
    private static let pieceDuration = Duration.milliseconds(15)

    let cancellation = SearchCancellation()
    private let limit: Int
    private let pieceSteps: Int
    private var spent = 0
    private var nextCheck = 0
    private var pieceEnd = 0
    private var deadline = ContinuousClock.now

    /// - Parameters:
    ///   - limit: steps of the whole search.
    ///   - pieceSteps: steps of a piece.
    init(limit: Int, pieceSteps: Int) {
        self.limit = limit
        self.pieceSteps = max(1, pieceSteps)
    }

    func beginPiece() {
        deadline = ContinuousClock.now + Self.pieceDuration
        pieceEnd = spent + pieceSteps
        nextCheck = min(nextCheck, spent)
    }

    /// True if the thread has to be given back.
    var isPieceOver: Bool {
        spent >= pieceEnd || cancellation.isCancelled || ContinuousClock.now >= deadline
    }

    /// Counts work that has been done, and throws if it was the last for now. What was found out must be kept before.
    func charge(_ steps: Int) throws(SearchStop) {
        spent += steps
        guard spent >= nextCheck else { return }
        if spent > limit { throw .exhausted }
        if isPieceOver { throw .paused }
        nextCheck = min(spent + Self.stepsBetweenChecks, limit + 1, pieceEnd)
    }

    /// Counts work without stopping; the next ``charge(_:)`` does.
    func add(_ steps: Int) { spent += steps }
}

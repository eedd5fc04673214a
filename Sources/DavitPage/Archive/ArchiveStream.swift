#if Archive
internal import DavitEngine
internal import DavitHTTP

/// An archive on its way out: made while it is sent, and no faster. Used by one task at a time.
final class ArchiveStream: BodyStream {
    private let maker: ArchiveMaker
    private let visit: CollectionVisit
    let length: Int64?
    /// Called if the promised length cannot be kept.
    private let broken: @Sendable () -> Void

    init(
        _ maker: ArchiveMaker, _ visit: CollectionVisit, length: Int64?,
        broken: @escaping @Sendable () -> Void
    ) {
        self.maker = maker
        self.visit = visit
        self.length = length
        self.broken = broken
    }

    private enum Outcome: Sendable { case made, broken, failed }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        let before = buffer.count
        while true {
            maker.take(into: buffer)
            if buffer.count > before || maker.hasEnded { return }
            // What compresses well, or cannot be read, may go on for long without a byte for a client that has gone.
            if Task.isCancelled { throw .disconnected }
            let maker = maker
            let outcome = try await visit.offload { () -> Outcome in
                do {
                    try maker.makePiece()
                    return .made
                } catch {
                    return error is ArchiveMaker.BrokenPromise ? .broken : .failed
                }
            }
            switch outcome {
            case .made: continue
            case .broken:
                broken()
                throw .disconnected
            case .failed: throw .disconnected
            }
        }
    }
}

/// The length of an archive that is not sent.
final class ArchiveLength: BodyStream {
    let length: Int64?

    init(_ length: Int64?) { self.length = length }

    func next(into buffer: IOBuffer) async throws(HTTPError) {}
}
#endif

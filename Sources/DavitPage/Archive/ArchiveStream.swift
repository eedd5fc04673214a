#if Archive
internal import DavitEngine
internal import DavitHTTP

/// Streams an archive, generating it at the speed of the client. Used by one task at a time.
final class ArchiveStream: BodyStream {
    private let builder: ArchiveBuilder
    private let visit: PageContext
    let length: Int64?
    /// Called if the archive cannot have the length that was sent.
    private let broken: @Sendable () -> Void

    init(
        _ builder: ArchiveBuilder, _ visit: PageContext, length: Int64?,
        broken: @escaping @Sendable () -> Void
    ) {
        self.builder = builder
        self.visit = visit
        self.length = length
        self.broken = broken
    }

    private enum Outcome: Sendable { case made, broken, failed }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        let before = buffer.count
        while true {
            builder.take(into: buffer)
            if buffer.count > before || builder.hasEnded { return }
            // Highly compressible or unreadable content may produce no bytes for a long time, so check for a
            // disconnected client.
            if Task.isCancelled { throw .disconnected }
            let builder = builder
            let outcome = try await visit.offload { () -> Outcome in
                do {
                    try builder.makePiece()
                    return .made
                } catch {
                    return error is ArchiveBuilder.LengthMismatch ? .broken : .failed
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

/// A body for HEAD: only the length of the archive.
final class ArchiveLength: BodyStream {
    let length: Int64?

    init(_ length: Int64?) { self.length = length }

    func next(into buffer: IOBuffer) async throws(HTTPError) {}
}
#endif

internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// The response to a SEARCH, produced one piece at a time. Each piece runs as long work, because a search can
/// visit whole trees without a result.
///
/// Belongs to the task of its request, which passes it to one job of the thread pool at a time and waits for
/// that job.
final class SearchStream: BodyStream, Sendable {
    private let share: Share
    private let context: RequestContext
    private let cancellation: SearchCancellation
    private let state: Exclusive<SearchWriter>

    init(share: Share, context: RequestContext, plan: SearchPlan) {
        self.share = share
        self.context = context
        cancellation = SearchCancellation()
        let configuration = share.configuration
        let meter = SearchMeter(
            limit: configuration.searchStepLimit, pieceSteps: configuration.searchPieceSteps,
            cancellation: cancellation)
        state = Exclusive(SearchWriter(share: share, context: context, plan: plan, meter: meter))
    }

    /// Produces pieces until the first scope has been opened.
    /// - Throws: An error if the first scope or its members cannot be read.
    func begin() async throws(WebDAVError) {
        repeat { try await makePiece() } while state.withValue { $0.startCount } == 0
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while state.withValue({ $0.needsPiece }) {
                // A search can run for a long time without a result, so no failing write reports that the
                // client has disconnected.
                if Task.isCancelled { throw WebDAVError.busy }
                try await makePiece()
            }
        } catch {
            // The head has been sent: abort the connection, so that no client mistakes a partial response for
            // a complete one.
            throw .disconnected
        }
        state.withValue { writer in
            _ = writer.responses.writer.take(into: buffer)
            writer.responses.releaseSlotIfDrained()
        }
    }

    /// Produces a piece on another thread. If the client disconnects, the piece ends early.
    private func makePiece() async throws(WebDAVError) {
        if state.withValue({ $0.responses.needsSlot }) {
            let slot = try await share.largeReads.enter(for: context)
            state.withValue { $0.responses.use(slot) }
        }
        defer { state.withValue { $0.responses.releaseSlotIfDrained() } }
        let result = await withTaskCancellationHandler { () async -> Result<Void, WebDAVError> in
            do throws(WebDAVError) { return .success(try await makeLongPiece()) } catch {
                return .failure(error)
            }
        } onCancel: {
            cancellation.cancel()
        }
        try result.get()
    }

    private func makeLongPiece() async throws(WebDAVError) {
        let hasBegun = state.withValue { $0.hasBegun }
        try await share.work.runLong(for: context.client, hasBegun ? .continues : .begins) {
            () throws(WebDAVError) in
            try self.state.withValue { writer throws(WebDAVError) in try writer.writePiece() }
        }
    }
}

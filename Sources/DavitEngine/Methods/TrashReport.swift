internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The davit-specific report on the trash: for Depth 0, the entries of the target itself, which for a file
/// are its earlier versions; for Depth 1, the entries of its members; for infinity, the entries of everything
/// below it.
struct TrashReport: Sendable {
    let share: Share

    func respond(
        _ context: RequestContext, _ depth: Depth, _ path: ResourcePath
    ) async throws(WebDAVError) -> HTTPResponse {
        let stream = TrashStream(share: share, context: context, target: path, depth: depth)
        // Start before the response head is sent, so that unreadable state still gets an error status.
        try await stream.start()
        return .multistatus(body: .stream(stream))
    }
}

/// Writes the trash entries, oldest first, one piece at a time.
///
/// Belongs to the task of its request, which passes it to one job of the thread pool at a time and waits for
/// that job.
final class TrashStream: BodyStream, Sendable {
    /// Maximum number of entries in a piece.
    private static let pieceEntries = 256

    private let share: Share
    private let context: RequestContext
    private let target: ResourcePath
    private let depth: Depth
    private let state = Exclusive(State())

    private struct State {
        let writer = MultistatusWriter()
        /// The number of the last entry written.
        var last: Int64 = 0
        var hasBegun = false
        var hasEnded = false
    }

    init(share: Share, context: RequestContext, target: ResourcePath, depth: Depth) {
        self.share = share
        self.context = context
        self.target = target
        self.depth = depth
    }

    /// Produces the first piece.
    func start() async throws(WebDAVError) {
        try await share.work.run { () throws(WebDAVError) in try self.writePiece() }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while state.withValue({ $0.writer.count == 0 && !$0.hasEnded }) { try await start() }
        } catch {
            // The head has been sent: abort the connection, so that no client mistakes a partial response for
            // a complete one.
            throw .disconnected
        }
        _ = state.withValue { $0.writer.take(into: buffer) }
    }

    private func writePiece() throws(WebDAVError) {
        try state.withValue { state throws(WebDAVError) in
            let entries: [TrashEntry]
            do throws(StateError) {
                entries = try share.state.trash(after: state.last, limit: Self.pieceEntries)
            } catch {
                throw WebDAVError(state: error)
            }
            if !state.hasBegun { state.writer.begin() }
            state.hasBegun = true
            for entry in entries where isRequested(entry.path) { write(entry, to: state.writer) }
            state.last = entries.last?.number ?? state.last
            if entries.count < Self.pieceEntries {
                state.writer.end()
                state.hasEnded = true
            }
        }
    }

    private func isRequested(_ path: ResourcePath) -> Bool {
        let isBelow =
            switch depth {
            case .zero: path == target
            case .one: path.isMember(of: target)
            case .infinity: path != target && target.contains(path)
            }
        return isBelow && share.trash.shows(path)
    }

    private func write(_ entry: TrashEntry, to writer: MultistatusWriter) {
        writer.beginResponse(href: context.href(of: entry.path), isCollection: entry.isCollection)
        writer.beginPropStat()
        property(writer, "id", Array(entry.id.utf8))
        var time: [UInt8] = []
        HTTPDate.appendISO8601WithMilliseconds(entry.deleted, to: &time)
        property(writer, "deleted", time)
        property(writer, "reason", Array((entry.reason == .deleted ? "deleted" : "overwritten").utf8))
        if let principal = entry.principal { property(writer, "principal", Array(principal.utf8)) }
        writer.property("resourcetype", markup: entry.isCollection ? "<D:collection/>" : "")
        if let length = entry.length { writer.property("getcontentlength", number: length) }
        writer.endPropStat(status: .ok)
        writer.endResponse()
    }

    private func property(_ writer: MultistatusWriter, _ name: String, _ text: [UInt8]) {
        writer.property(PropertyName(namespace: ReportBody.trashNamespace, local: name), escaped: text)
    }
}

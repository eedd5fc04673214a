internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The davit-specific trash report, which lists the trash entries of the target.
///
/// Depth selects the entries by original path: 0, the target itself (for a file, its earlier versions); 1, its members;
/// infinity, everything below it.
struct TrashReport: Sendable {
    let share: Share

    func respond(
        _ context: RequestContext, _ depth: Depth, _ path: ResourcePath
    ) async throws(WebDAVError) -> HTTPResponse {
        let stream = TrashStream(share: share, context: context, target: path, depth: depth)
        // Start before the header section is sent, so that an unreadable database results in an error status.
        try await stream.start()
        return .multistatus(body: .stream(stream))
    }
}

/// Writes the trash entries, oldest first, one piece at a time.
///
/// Only one thread uses it at a time: the task of the request waits for each job that it passes to the thread pool.
final class TrashStream: BodyStream, Sendable {
    /// The maximum number of entries to read for a piece.
    private static let pieceEntries = 256

    private let share: Share
    private let context: RequestContext
    private let target: ResourcePath
    private let depth: Depth
    private let state = Exclusive(State())

    private struct State {
        let writer = MultistatusWriter()
        /// The number of the last entry read.
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

    /// Produces a piece on another thread.
    func start() async throws(WebDAVError) {
        try await share.work.run { () throws(WebDAVError) in try self.writePiece() }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while state.withValue({ $0.writer.count == 0 && !$0.hasEnded }) { try await start() }
        } catch {
            // The header section has been sent. Abort the connection, so that no client takes a partial response for a
            // complete one.
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
            for entry in entries where isRequested(entry) { write(entry, to: state.writer) }
            state.last = entries.last?.number ?? state.last
            if entries.count < Self.pieceEntries {
                state.writer.end()
                state.hasEnded = true
            }
        }
    }

    private func isRequested(_ entry: TrashEntry) -> Bool {
        let path = entry.path
        let isBelow =
            switch depth {
            case .zero: path == target
            case .one: path.isMember(of: target)
            case .infinity: path != target && target.contains(path)
            }
        return isBelow && share.showsTrashed(entry)
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
        if share.access != nil {
            let rights = share.clientRights(ofTrashed: entry)
            writer.property(LiveProperty.rights.name, escaped: Array("\(rights.number)".utf8))
        }
        writer.endPropStat(status: .ok)
        writer.endResponse()
    }

    private func property(_ writer: MultistatusWriter, _ name: String, _ text: [UInt8]) {
        writer.property(PropertyName(namespace: ReportBody.trashNamespace, local: name), escaped: text)
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The report of davit's own on what the trash keeps: with Depth 0 of the target itself, which for content is its
/// earlier versions, with 1 of members of the target, with infinity of everything below.
struct TrashReport: Sendable {
    let share: Share

    func respond(
        _ context: RequestContext, _ depth: Depth, _ path: ResourcePath
    ) async throws(WebDAVError) -> HTTPResponse {
        let stream = TrashStream(share: share, context: context, target: path, depth: depth)
        // Before the head is out: what cannot be read at all has a status.
        try await stream.start()
        return .multistatus(body: .stream(stream))
    }
}

/// Writes what the trash keeps, the oldest first, a piece at a time.
///
/// Belongs to the task of its request, which lends it to one job of the pool at a time and waits for it: that is what makes
/// the unchecked conformance true.
final class TrashStream: BodyStream, @unchecked Sendable {
    /// Entries of one piece.
    private static let pieceEntries = 256

    private let share: Share
    private let context: RequestContext
    private let target: ResourcePath
    private let depth: Depth
    private let writer = MultistatusWriter()
    private var last: Int64 = 0
    private var hasBegun = false
    private var hasEnded = false

    init(share: Share, context: RequestContext, target: ResourcePath, depth: Depth) {
        self.share = share
        self.context = context
        self.target = target
        self.depth = depth
    }

    /// Makes the first piece.
    func start() async throws(WebDAVError) {
        try await share.offload { () throws(WebDAVError) in try self.writePiece() }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while writer.count == 0 && !hasEnded { try await start() }
        } catch {
            // The head is out: the connection is cut, so that nobody takes a part for the whole.
            throw .disconnected
        }
        _ = writer.take(into: buffer)
    }

    private func writePiece() throws(WebDAVError) {
        let entries: [TrashEntry]
        do throws(StateError) {
            entries = try share.state.trash(after: last, limit: Self.pieceEntries)
        } catch {
            throw WebDAVError(state: error)
        }
        if !hasBegun { writer.begin() }
        hasBegun = true
        for entry in entries where isAskedFor(entry.path) { write(entry) }
        last = entries.last?.number ?? last
        if entries.count < Self.pieceEntries {
            writer.end()
            hasEnded = true
        }
    }

    private func isAskedFor(_ path: ResourcePath) -> Bool {
        let isBelow =
            switch depth {
            case .zero: path == target
            case .one: path.isMember(of: target)
            case .infinity: path != target && target.contains(path)
            }
        return isBelow && share.showsTrash(path)
    }

    private func write(_ entry: TrashEntry) {
        writer.beginResponse(href: context.href(of: entry.path), isCollection: entry.isCollection)
        writer.beginPropStat()
        property("id", Array(entry.id.utf8))
        var time: [UInt8] = []
        HTTPDate.appendISO8601WithMilliseconds(entry.deleted, to: &time)
        property("deleted", time)
        property("reason", Array((entry.reason == .deleted ? "deleted" : "overwritten").utf8))
        if let principal = entry.principal { property("principal", Array(principal.utf8)) }
        writer.property("resourcetype", markup: entry.isCollection ? "<D:collection/>" : "")
        if let length = entry.length { writer.property("getcontentlength", number: length) }
        writer.endPropStat(status: .ok)
        writer.endResponse()
    }

    private func property(_ name: String, _ text: [UInt8]) {
        writer.property(PropertyName(namespace: ReportBody.trashNamespace, local: name), escaped: text)
    }
}

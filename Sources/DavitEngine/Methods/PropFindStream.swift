internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// The body of a PROPFIND response. Traverses the tree and writes its responses one piece at a time, so that memory use
/// does not depend on the size of the tree.
///
/// Only one thread uses it at a time: the task of the request waits for each job that it passes to the thread pool.
final class PropFindStream: BodyStream, Sendable {
    private let share: Share
    private let context: RequestContext
    private let start: TraversalStart
    private let state: Exclusive<PropFindWriter>
    /// Whether the response covers only the members of a collection and not the collection itself.
    let excludesRoot: Bool

    init(
        share: Share, context: RequestContext, plan: PropFindPlan, depth: Depth, target: ResourcePath,
        info: ResourceInfo
    ) {
        self.share = share
        self.context = context
        start = TraversalStart(
            depth: depth, target: target, info: info, href: context.href, name: Array(context.path.name))
        excludesRoot = start.hasMembers && Self.excludesRoot(context.request)
        state = Exclusive(
            PropFindWriter(
                PropertyResponses(share: share, context: context, plan: plan), start: start,
                excludesRoot: excludesRoot))
    }

    /// Whether the client requests only the members: with `depth-noroot` (RFC 8144 §4), or with its older form in Depth.
    private static func excludesRoot(_ request: HTTPRequest) -> Bool {
        if request.contains(.prefer), ResponsePreferences(request).excludesRoot { return true }
        return request.withValue(of: .depth) { Depth.excludesRoot($0) } ?? false
    }

    /// Sets the sync token to return (RFC 6578 §4).
    /// - Parameter root: the collection to which the token applies.
    func setSyncToken(_ text: String, root: ResourcePath) {
        state.withValue { $0.responses.syncToken = (text, root) }
    }

    /// Produces pieces until the target has been opened.
    /// - Throws: An error if the target or its members cannot be read.
    func begin() async throws(WebDAVError) {
        repeat { try await makePiece() } while !state.withValue { $0.hasStarted }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while state.withValue({ $0.needsPiece }) { try await makePiece() }
        } catch {
            // The header section has been sent. Abort the connection, so that no client takes a partial response for a
            // complete one.
            throw .disconnected
        }
        state.withValue { writer in
            _ = writer.responses.writer.take(into: buffer)
            writer.responses.releaseSlotIfDrained()
        }
    }

    /// Produces a piece where it may block. The first piece is small, so it can be brief work. With infinite depth, the
    /// others are long work.
    private func makePiece() async throws(WebDAVError) {
        let (hasBegun, needsSlot) = state.withValue { ($0.hasBegun, $0.responses.needsSlot) }
        if needsSlot {
            let slot = try await share.largeReads.enter(for: context)
            state.withValue { $0.responses.use(slot) }
        }
        defer { state.withValue { $0.responses.releaseSlotIfDrained() } }
        if !hasBegun {
            try await share.work.runBriefly { () throws(WebDAVError) in try self.writePiece() }
        } else if start.depth == .infinity {
            try await share.work.runLong(for: context.client, .continues) {
                () throws(WebDAVError) in
                try self.writePiece()
            }
        } else {
            try await share.work.run { () throws(WebDAVError) in try self.writePiece() }
        }
    }

    private func writePiece() throws(WebDAVError) {
        try state.withValue { writer throws(WebDAVError) in try writer.writePiece() }
    }

    /// Whether the response covers only one resource.
    var isOfOneResource: Bool { !start.hasMembers }

    /// Returns the complete response for one resource. Runs on the event loop if that does not block.
    /// - Returns: nil if the response is large, so that it must be sent as a stream.
    func whole() async throws(WebDAVError) -> [UInt8]? {
        if let bytes = try wholeWithoutWaiting() { return bytes }
        repeat { try await makePiece() } while !state.withValue { $0.hasEnded }
        return state.withValue { $0.responses.slot == nil ? $0.responses.writer.drain() : nil }
    }

    /// Same as ``whole()``, but returns nil if the operation would block.
    func wholeWithoutWaiting() throws(WebDAVError) -> [UInt8]? {
        let target = start.target
        if state.withValue({ $0.responses.mayBlock(at: target) }) { return nil }
        try writePiece()
        return state.withValue { $0.responses.writer.drain() }
    }
}

/// Writes the responses of the target and its members, one piece at a time.
private struct PropFindWriter {
    /// The size in bytes at which a piece ends. The first piece is small, so that the response begins early and
    /// the event loop can write it, with all properties of about 100 members. Later pieces are larger, because each
    /// costs a round trip to the thread pool, which takes about as long as ten members.
    private static let firstPieceBytes = 80 << 10
    private static let pieceBytes = 192 << 10
    /// The maximum number of steps per piece, so that other jobs can use the thread in between.
    private static let stepLimit = 8192

    let responses: PropertyResponses
    private let start: TraversalStart
    /// Whether only the members are written, and not the target itself.
    private let excludesRoot: Bool
    private var traversal: PropertyTraversal
    private(set) var hasBegun = false
    /// Whether the target has been written or skipped, and opened.
    private(set) var hasStarted = false
    private(set) var hasEnded = false

    init(_ responses: PropertyResponses, start: TraversalStart, excludesRoot: Bool) {
        self.responses = responses
        self.start = start
        self.excludesRoot = excludesRoot
        traversal = PropertyTraversal(responses)
    }

    /// Whether another piece must be written before bytes can be sent.
    var needsPiece: Bool { responses.writer.count == 0 && !hasEnded }

    mutating func writePiece() throws(WebDAVError) {
        let writer = responses.writer
        let limit = hasBegun ? Self.pieceBytes : Self.firstPieceBytes
        if !hasBegun {
            hasBegun = true
            writer.begin()
            try begin()
        }
        // Reserve a little more, because the last response of a piece can exceed the limit.
        if !traversal.isAtEnd { writer.reserve(limit + 4096 - writer.count) }
        var steps = 0
        while writer.count < limit, steps < Self.stepLimit, !hasEnded, !responses.needsSlot {
            steps += 1
            try step()
        }
        if hasStarted, traversal.isAtEnd, !hasEnded { end() }
        responses.endPiece()
    }

    private mutating func step() throws(WebDAVError) {
        if !hasStarted { return try begin() }
        switch try traversal.next() {
        case .member(let properties):
            responses.writer.beginResponse(
                href: traversal.collectionHref, member: traversal.member.name,
                isCollection: traversal.member.info.isCollection)
            try responses.write(traversal.member, at: traversal.path, properties: properties)
        case .none: break
        case .end: end()
        }
    }

    /// Writes the target and opens it, unless a slot for a large read must be acquired first.
    /// - Throws: an error if the target cannot be read; it determines the status, because the header section has not been
    ///   sent yet.
    private mutating func begin() throws(WebDAVError) {
        let start = start
        let known = try reading { () throws(StoreError) in
            try responses.boundedProperties(at: start.target, of: start.info)
        }
        guard let properties = known else { return }
        hasStarted = true
        if !excludesRoot {
            responses.writer.beginResponse(href: start.href)
            try responses.write(start.member, at: start.target, properties: properties)
            if start.hasMembers { responses.omitRights(ofMembersOf: start.target) }
        }
        if start.hasMembers { try reading { () throws(StoreError) in try traversal.begin(at: start) } }
    }

    private mutating func end() {
        hasEnded = true
        responses.writer.end()
    }
}

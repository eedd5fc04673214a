internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Writes the changes of a collection in the order in which they were made, one piece at a time.
///
/// Changes made in the meantime have higher numbers than the end position, and are reported by the next
/// request.
///
/// Belongs to the task of its request, which passes it to one job of the thread pool at a time and waits for
/// that job.
final class SyncCollectionStream: BodyStream, Sendable {
    private let share: Share
    private let journal: JournalReader
    private let context: RequestContext
    private let target: ResourcePath
    private let isDeep: Bool
    private let position: JournalPosition
    private let state: Exclusive<SyncCollectionWriter>

    init(
        share: Share, journal: JournalReader, context: RequestContext, target: ResourcePath,
        body: SyncCollectionBody, responses: sending PropertyResponses, since token: SyncToken,
        through position: JournalPosition
    ) {
        self.share = share
        self.journal = journal
        self.context = context
        self.target = target
        isDeep = body.level == .infinite
        self.position = position
        state = Exclusive(
            SyncCollectionWriter(
                share: share, context: context, target: target, body: body, responses: responses,
                since: token, through: position))
    }

    /// Produces the first piece.
    func start() async throws(WebDAVError) { try await writePiece() }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while state.withValue({ $0.needsPiece }) { try await writePiece() }
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

    private func writePiece() async throws(WebDAVError) {
        if state.withValue({ $0.responses.needsSlot }) {
            let slot = try await share.largeReads.enter(for: context)
            state.withValue { $0.responses.use(slot) }
        }
        let (target, isDeep, token, through) = (
            target, isDeep, state.withValue { $0.token }, position.last
        )
        let changes = try await journal.read { journal throws(JournalError) in
            try journal.changes(
                in: target, isDeep: isDeep, since: token, through: through,
                limit: SyncCollectionWriter.pieceChanges)
        }
        try await share.work.run { () throws(WebDAVError) in
            try self.state.withValue { writer throws(WebDAVError) in
                try writer.write(changes)
                writer.responses.releaseSlotIfDrained()
            }
        }
    }
}

private struct SyncCollectionWriter {
    /// Maximum number of changes in a piece.
    static let pieceChanges = 256
    /// Maximum number of changes whose resources are looked up together.
    private static let batchChanges = 32
    /// Size in bytes at which a piece ends after the current batch; the next piece contains the remaining changes.
    private static let pieceBytes = 192 << 10

    private let share: Share
    private let target: ResourcePath
    private let isDeep: Bool
    let responses: PropertyResponses
    private let position: JournalPosition
    /// Number of changes that may still be reported; nil for no limit.
    private var left: Int?
    /// Identifies the state that the client has after processing everything written so far.
    private(set) var token: SyncToken
    private var hasBegun = false
    private var hasEnded = false
    /// The collection of the member written last, and its href.
    private var folder: (path: ResourcePath, href: [UInt8])

    init(
        share: Share, context: RequestContext, target: ResourcePath, body: SyncCollectionBody,
        responses: PropertyResponses, since token: SyncToken, through position: JournalPosition
    ) {
        self.share = share
        self.target = target
        isDeep = body.level == .infinite
        left = body.limit
        self.responses = responses
        self.token = token
        self.position = position
        var href = context.href
        if href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        folder = (target, href)
        rootHref = href
    }

    /// Href of the target; ends in a slash.
    private let rootHref: [UInt8]

    /// Whether another piece is to be written.
    var needsPiece: Bool { responses.writer.count == 0 && !hasEnded }

    mutating func write(_ changes: [ResourceChange]) throws(WebDAVError) {
        if !hasBegun { responses.writer.begin() }
        hasBegun = true
        var rest = changes[...]
        while !rest.isEmpty, responses.writer.count < Self.pieceBytes {
            let written = try writeBatch(rest.prefix(Self.batchChanges))
            if written == 0 || hasEnded { return }
            rest.removeFirst(written)
        }
        // The next piece reads the remaining changes again: the token identifies the last change in this
        // piece.
        if rest.isEmpty, changes.count < Self.pieceChanges { end(isCut: false) }
    }

    /// - Returns: The number of changes processed; 0 if a slot must be acquired first.
    private mutating func writeBatch(_ changes: ArraySlice<ResourceChange>) throws(WebDAVError) -> Int {
        // In an initial synchronization, omit removals before its first response: the client never knew those
        // resources.
        let reported = changes.filter {
            ($0.kind != .removed || $0.number > token.base) && share.mayReport($0.path)
        }
        let seen = try lookUp(at: reported)
        var index = 0
        var written = 0
        for change in changes {
            if index < reported.count, reported[index] == change {
                // The properties of this resource did not fit into memory together with those of the previous
                // resources.
                if index == seen.count { break }
                guard left != 0 else {
                    end(isCut: true)
                    break
                }
                try write(change, seen[index])
                index += 1
            }
            token.number = change.number
            token.base = max(token.base, change.number)
            written += 1
        }
        return written
    }

    /// Looks up the resources of the first changes, as many as fit into memory together, with their dead
    /// properties. An element is nil if the change is a removal or the resource no longer exists.
    private func lookUp(
        at changes: [ResourceChange]
    ) throws(WebDAVError) -> [(member: Member, properties: [StoredProperty])?] {
        try storing { () throws(StoreError) in
            var seen: [Member?] = []
            for change in changes {
                guard change.kind != .removed else {
                    seen.append(nil)
                    continue
                }
                seen.append(try member(at: change.path))
            }
            let found = zip(changes, seen).compactMap { change, member in
                member.map { ($0.canonicalPath ?? change.path, $0.info.identity) }
            }
            var properties = try responses.boundedProperties(of: found)[...]
            var looked: [(member: Member, properties: [StoredProperty])?] = []
            for member in seen {
                guard let member else {
                    looked.append(nil)
                    continue
                }
                guard let own = properties.popFirst() else { break }
                looked.append((member, own))
            }
            return looked
        }
    }

    private func member(at path: ResourcePath) throws(StoreError) -> Member? {
        do throws(StoreError) {
            let lookup = try share.lookup.resource(at: path, wait: .allowed)
            return lookup.info.map {
                Member(
                    name: Array(path.name), info: $0, canonicalPath: lookup.path == path ? nil : lookup.path)
            }
        } catch {
            switch error {
            case .forbidden, .notFound, .missingAncestor, .invalidName: return nil
            default: throw error
            }
        }
    }

    private mutating func write(
        _ change: ResourceChange, _ seen: (member: Member, properties: [StoredProperty])?
    ) throws(WebDAVError) {
        let writer = responses.writer
        let name = Array(change.path.name)
        if change.kind == .removed {
            writer.beginResponse(
                href: href(ofFolder: change.path), member: name, isCollection: change.isCollection)
            writer.responseStatus(.notFound)
            writer.endResponse()
        } else if let (member, properties) = seen {
            writer.beginResponse(
                href: href(ofFolder: change.path), member: name, isCollection: member.info.isCollection)
            if change.kind == .linkedCollection, isDeep, member.info.isCollection {
                // The members of a linked collection are reported under its canonical path, which the client
                // can request (§3.3).
                writer.responseStatus(.forbidden)
                writer.endResponse(condition: .syncTraversalSupported)
            } else {
                try responses.write(member, at: member.canonicalPath ?? change.path, properties: properties)
            }
        } else {
            // The resource has just been removed; the removal is a later change.
            return
        }
        left = left.map { $0 - 1 }
    }

    /// Returns the href of the collection that contains `path`, with the target as spelled by the client.
    private mutating func href(ofFolder path: ResourcePath) -> [UInt8] {
        if path.isMember(of: folder.path) { return folder.href }
        guard let parent = path.parent else { return rootHref }
        var href = rootHref
        for segment in parent.segments.dropFirst(target.segments.count) {
            PercentCoding.append(segment, to: &href)
            href.append(UInt8(ascii: "/"))
        }
        folder = (parent, href)
        return href
    }

    /// - Parameter isCut: Whether there are more changes than requested (§3.6).
    private mutating func end(isCut: Bool) {
        if isCut {
            responses.writer.beginResponse(href: rootHref)
            responses.writer.responseStatus(.insufficientStorage)
            responses.writer.endResponse(condition: .numberOfMatchesWithinLimits)
        } else {
            token = SyncToken(position, view: token.view)
        }
        responses.writer.end(syncToken: token.text)
        hasEnded = true
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Writes the changes of a collection in the order in which they happened, a piece at a time.
///
/// What changes while it writes has a higher number than it goes to, and is told to the next who asks.
///
/// Belongs to the task of its request, which lends it to one job of the pool at a time and waits for it: that is what makes
/// the unchecked conformance true.
final class SyncCollectionStream: BodyStream, @unchecked Sendable {
    /// Changes of one piece.
    private static let pieceChanges = 256
    /// Changes whose resources are looked at together.
    private static let batchChanges = 32
    /// Bytes of a piece; what a response adds over it stays until the next.
    private static let pieceBytes = 192 << 10

    private let share: Share
    private let context: RequestContext
    private let target: ResourcePath
    private let isDeep: Bool
    private let responses: PropertyResponses
    private let position: JournalPosition
    /// How many changes may still be told; nil for all.
    private var left: Int?
    /// What whoever asks knows, with all that has been written.
    private var token: SyncToken
    private var hasBegun = false
    private var hasEnded = false
    /// The last collection whose member was written, and its href.
    private var folder: (path: ResourcePath, href: [UInt8])

    init(
        share: Share, context: RequestContext, target: ResourcePath, body: SyncCollectionBody,
        responses: PropertyResponses, since token: SyncToken, through position: JournalPosition
    ) {
        self.share = share
        self.context = context
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

    /// Of the target, with a slash at its end.
    private let rootHref: [UInt8]

    /// Makes the first piece.
    func start() async throws(WebDAVError) { try await writePiece() }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while responses.writer.count == 0 && !hasEnded { try await writePiece() }
        } catch {
            // The head is out: the connection is cut, so that nobody takes a part for the whole.
            throw .disconnected
        }
        _ = responses.writer.take(into: buffer)
        responses.releaseSlotIfDrained()
    }

    private func writePiece() async throws(WebDAVError) {
        try await responses.takeSlotIfNeeded()
        let (target, isDeep, token, through) = (target, isDeep, token, position.last)
        let changes = try await share.askingJournal { journal throws(JournalError) in
            try journal.changes(
                in: target, isDeep: isDeep, since: token, through: through, limit: Self.pieceChanges)
        }
        try await share.offload { () throws(WebDAVError) in try self.write(changes) }
        responses.releaseSlotIfDrained()
    }

    private func write(_ changes: [ResourceChange]) throws(WebDAVError) {
        if !hasBegun { responses.writer.begin() }
        hasBegun = true
        var rest = changes[...]
        while !rest.isEmpty, responses.writer.count < Self.pieceBytes {
            let written = try writeBatch(rest.prefix(Self.batchChanges))
            if written == 0 || hasEnded { return }
            rest.removeFirst(written)
        }
        // What is left is asked for again: the token says how far this has come.
        if rest.isEmpty, changes.count < Self.pieceChanges { end(isCut: false) }
    }

    /// - Returns: how many of the changes have been dealt with; 0 where a slot is needed first.
    private func writeBatch(_ changes: ArraySlice<ResourceChange>) throws(WebDAVError) -> Int {
        // What was gone before the first part of a first answer was never told of.
        let told = changes.filter { $0.kind != .removed || $0.number > token.base }
        let seen = try look(at: told)
        var place = 0
        var written = 0
        for change in changes {
            if place < told.count, told[place] == change {
                // Its properties could not be read with those before it.
                if place == seen.count { break }
                guard left != 0 else {
                    end(isCut: true)
                    break
                }
                try write(change, seen[place])
                place += 1
            }
            token = SyncToken(journal: token.journal, number: change.number, base: token.base)
            written += 1
        }
        return written
    }

    /// What stands at the first of the paths now, with its dead properties, as many as may be held together; nil where
    /// nothing does.
    private func look(
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
            let lookup = try share.look(at: path, wait: .allowed)
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

    private func write(
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
                // Its members are where it leads to, and can be asked for by its own name (§3.3).
                writer.responseStatus(.forbidden)
                writer.endResponse(condition: .syncTraversalSupported)
            } else {
                try responses.write(member, at: member.canonicalPath ?? change.path, properties: properties)
            }
        } else {
            // Gone a moment ago: that is a later change.
            return
        }
        left = left.map { $0 - 1 }
    }

    /// The href of the collection that a path is a member of, as the client spells the target.
    private func href(ofFolder path: ResourcePath) -> [UInt8] {
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

    /// - Parameter isCut: there is more than was asked for (§3.6).
    private func end(isCut: Bool) {
        if isCut {
            responses.writer.beginResponse(href: rootHref)
            responses.writer.responseStatus(.insufficientStorage)
            responses.writer.endResponse(condition: .numberOfMatchesWithinLimits)
        } else {
            token = SyncToken(position)
        }
        responses.writer.end(syncToken: token.text)
        hasEnded = true
    }
}

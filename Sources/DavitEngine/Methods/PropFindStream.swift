internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Traverses the target and its members and writes their responses one piece at a time, so that memory use
/// does not depend on the size of the tree. For SEARCH it traverses several targets and writes only the
/// resources that match the query.
///
/// All members of a collection are written before the members of its subcollections, so that only one
/// collection is open at a time, regardless of the depth of the tree.
///
/// Belongs to the task of its request, which passes it to one job of the thread pool at a time and waits for
/// that job. This makes the unchecked conformance safe.
final class PropFindStream: BodyStream, @unchecked Sendable {
    /// A collection on the current path of the traversal.
    private final class Level {
        /// Nil once all members have been read.
        var cursor: (any MemberCursor)?
        /// The subcollections to enter after all members have been read.
        var collections = PendingCollections()
        /// True if the members have already been written and the collection is read again only to find more
        /// subcollections.
        var isReadAgain = false
        /// Canonical path.
        let path: ResourcePath
        /// Ends in a slash.
        let href: [UInt8]
        let identity: ResourceIdentity
        let volume: UInt64
        /// Whether members may have requested dead properties.
        let hasProperties: Bool
        /// Members whose properties have not been read yet, in order.
        var pending: ArraySlice<Pending> = []
        /// Members whose properties have been read, in reverse order.
        var ready: [Ready] = []

        init(
            cursor: any MemberCursor, path: ResourcePath, href: [UInt8], identity: ResourceIdentity,
            volume: UInt64, hasProperties: Bool
        ) {
            self.cursor = cursor
            self.path = path
            self.href = href
            self.identity = identity
            self.volume = volume
            self.hasProperties = hasProperties
        }
    }

    private struct Pending {
        let member: Member
        let path: ResourcePath
    }

    private struct Ready {
        let member: Member
        let path: ResourcePath
        let properties: [StoredProperty]
    }

    /// A resource whose evaluation by a search was paused.
    private struct Candidate {
        let member: Member
        /// Canonical path.
        let path: ResourcePath
        /// The path on which the traversal reached the resource.
        let walked: ResourcePath
        let properties: [StoredProperty]
        let href: [UInt8]
    }

    /// The starting point of a traversal.
    private struct Start {
        let depth: Depth
        /// Canonical path.
        let target: ResourcePath
        let info: ResourceInfo
        /// As spelled by the client.
        let href: [UInt8]
        let name: [UInt8]

        init(depth: Depth, target: ResourcePath, info: ResourceInfo, href: [UInt8], name: [UInt8]) {
            self.depth = depth
            self.target = target
            self.info = info
            self.href = href
            self.name = name
        }

        init(_ location: SearchPlan.SearchRoot) {
            self.init(
                depth: location.depth, target: location.target, info: location.info, href: location.href,
                name: location.name
            )
        }
    }

    /// Maximum number of members whose properties are read together.
    private static let readyLimit = 32
    /// Size limit of a piece in bytes; if a response exceeds it, the rest becomes part of the next piece. The
    /// first piece is small, so that the response begins early; each piece costs a round trip to the thread
    /// pool, about as much as ten members.
    private static let firstPieceBytes = 48 << 10
    private static let pieceBytes = 192 << 10
    /// Approximate limit, in bytes, for the names of collections that have not been entered yet. Above it,
    /// some names are dropped and their parent collection is read again later.
    private static let pendingLimit = 2 << 20
    /// Maximum number of steps for one piece, after which other jobs get the thread: a search may visit many
    /// members without a match.
    private static let stepLimit = 8192

    private let share: Share
    private let context: RequestContext
    /// The only starting point of a PROPFIND; a separate property, so that it needs no array.
    private let firstStart: Start
    private let otherStarts: [Start]
    /// Number of starting points that have been processed.
    @safe @exclusivity(unchecked) private var startCount = 0
    /// Nil for PROPFIND.
    private let search: SearchRun?
    private let responses: PropertyResponses
    /// A search result whose properties could not be read yet.
    private var pendingRow: SearchRows.Row?
    /// Whether the response covers only the members of a collection and not the collection itself.
    let excludesRoot: Bool
    @safe @exclusivity(unchecked) private var levels: [Level] = []
    /// If set, this resource is evaluated before any other.
    @safe @exclusivity(unchecked) private var candidate: Candidate?
    /// Size in bytes of the names stored in all levels.
    @safe @exclusivity(unchecked) private var pendingBytes = 0
    private var hasBegun = false
    private var hasEnded = false
    /// The member being written; its memory is reused for all members.
    @safe @exclusivity(unchecked) private var member = Member()

    init(
        share: Share, context: RequestContext, plan: PropFindPlan, depth: Depth, target: ResourcePath,
        info: ResourceInfo
    ) {
        self.share = share
        self.context = context
        // Use the name as spelled by the client, which for an alias differs from the canonical name.
        firstStart = Start(
            depth: depth, target: target, info: info, href: context.href, name: Array(context.path.name))
        otherStarts = []
        search = nil
        responses = PropertyResponses(share: share, context: context, plan: plan)
        excludesRoot = info.isCollection && depth != .zero && Self.excludesRoot(context.request)
    }

    /// RFC 8144 §4, and the older form of this preference in Depth.
    private static func excludesRoot(_ request: HTTPRequest) -> Bool {
        if request.contains(.prefer), ResponsePreferences(request).excludesRoot { return true }
        return request.withValue(of: .depth) { Depth.excludesRoot($0) } ?? false
    }

    init(share: Share, context: RequestContext, search plan: SearchPlan) {
        self.share = share
        self.context = context
        // The grammar requires at least one scope.
        firstStart = Start(plan.places[0])
        otherStarts = plan.places.dropFirst().map { Start($0) }
        search = SearchRun(plan, share: share)
        excludesRoot = false
        responses = PropertyResponses(share: share, context: context, plan: plan.properties)
    }

    /// The sync token of the share (RFC 6578 §4), if requested.
    var syncToken: (text: String, root: ResourcePath)? {
        get { responses.syncToken }
        set { responses.syncToken = newValue }
    }

    /// Produces the first piece.
    /// - Throws: An error if the target or its members cannot be read.
    func start() async throws(WebDAVError) {
        repeat { try await makePiece() } while startCount == 0
    }

    /// Produces a piece on another thread. If the client disconnects, a search is cancelled there.
    private func makePiece() async throws(WebDAVError) {
        try await responses.takeSlotIfNeeded()
        defer { responses.releaseSlotIfDrained() }
        guard takesLong, hasBegun || search != nil else {
            return try await share.work.run { () throws(WebDAVError) in try self.writePiece() }
        }
        guard let cancellation = search?.meter.cancellation else { return try await makeLongPiece() }
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
        try await share.work.runLong(for: context.request.client, hasBegun ? .continues : .begins) {
            () throws(WebDAVError) in
            try self.writePiece()
        }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while responses.writer.count == 0 && !hasEnded {
                // A search can run for a long time without a result, so no failing write reports that the
                // client has disconnected.
                if search != nil, Task.isCancelled { throw WebDAVError.busy }
                try await makePiece()
            }
        } catch {
            // The head has been sent: abort the connection, so that no client mistakes a partial response for
            // a complete one.
            throw .disconnected
        }
        _ = responses.writer.take(into: buffer)
        responses.releaseSlotIfDrained()
    }

    /// Whether the traversal may visit a whole tree. Its pieces then run as long work, except the first piece
    /// of a PROPFIND.
    private var takesLong: Bool { search != nil || firstStart.depth == .infinity }

    /// Whether the response covers only one resource.
    var isOfOneResource: Bool {
        search == nil && (firstStart.depth == .zero || !firstStart.info.isCollection)
    }

    /// Returns the complete response for one resource. Runs on the event loop if that does not block.
    /// - Returns: nil if the response is large; it has been produced and must be sent as a stream.
    func whole() async throws(WebDAVError) -> [UInt8]? {
        if let bytes = try wholeWithoutWaiting() { return bytes }
        repeat { try await makePiece() } while !hasEnded
        return responses.slot == nil ? responses.writer.drain() : nil
    }

    /// Same as ``whole()``, but returns nil if the operation would block.
    func wholeWithoutWaiting() throws(WebDAVError) -> [UInt8]? {
        if responses.mayBlock(at: firstStart.target) { return nil }
        try writePiece()
        return responses.writer.drain()
    }

    private func writePiece() throws(WebDAVError) {
        let limit = hasBegun ? Self.pieceBytes : Self.firstPieceBytes
        if !hasBegun {
            hasBegun = true
            responses.writer.begin()
            try beginNext()
        }
        // Reserve a little more, for the part of the last response that exceeds the limit.
        if !levels.isEmpty, search == nil { responses.writer.reserve(limit + 4096 - responses.writer.count) }
        var steps = 0
        search?.meter.beginPiece()
        while responses.writer.count < limit, steps < Self.stepLimit, !hasEnded, !responses.needsSlot {
            if let search {
                if steps > 0, search.meter.isPieceOver { break }
                if search.isExhausted { endWalk() }
            }
            steps += 1
            if search?.isOver == true { try end() } else { try step() }
        }
        if levels.isEmpty, startCount > otherStarts.count, search == nil, !hasEnded { try end() }
    }

    /// Processes the next member, the next starting point or the next sorted result, or ends the response.
    private func step() throws(WebDAVError) {
        if let candidate { return try resume(candidate) }
        if let level = levels.last { return try advance(level) }
        if startCount <= otherStarts.count { return try beginNext() }
        if let row = pendingRow {
            pendingRow = nil
            return try write(row)
        }
        switch search?.nextRow() {
        case .row(let row): try write(row)
        case .pending: break
        case .end, nil: try end()
        }
    }

    /// Ends the traversal; no further resources are visited.
    private func endWalk() {
        levels.removeAll()
        startCount = otherStarts.count + 1
    }

    private func end() throws(WebDAVError) {
        levels.removeAll()
        hasEnded = true
        if search?.isTruncated == true {
            // RFC 5323 §2.3.1: the response contains only part of the results.
            responses.writer.beginResponse(href: context.href)
            responses.writer.responseStatus(.insufficientStorage)
            responses.writer.endResponse(
                description: search?.isExhausted == true
                    ? "The search was too expensive and is incomplete: use a smaller scope or a simpler condition."
                    : "The response contains only a part of the results.")
        }
        responses.writer.end()
    }

    private func start(_ index: Int) -> Start { index == 0 ? firstStart : otherStarts[index - 1] }

    private func beginNext() throws(WebDAVError) {
        let start = start(startCount)
        let known = try storing { () throws(StoreError) in
            try responses.boundedProperties(at: start.target, of: start.info)
        }
        guard let properties = known else { return }
        search?.position = startCount
        startCount += 1
        var href = start.href
        if start.info.isCollection && href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        let member = Member(name: start.name, info: start.info)
        if !excludesRoot,
            try admits(member, at: start.target, walked: start.target, properties, href: { href })
        {
            responses.writer.beginResponse(href: href)
            try responses.write(member, at: start.target, properties: properties)
        }
        guard start.info.isCollection, start.depth != .zero else { return }
        // For the first starting point the head has not been sent yet, so that an error still determines the
        // status.
        let (identity, volume) = (start.info.identity, start.info.volume)
        if startCount > 1 { return try enterIfPossible(start.target, href: href, identity, volume) }
        try storing { () throws(StoreError) in try enter(start.target, href: href, identity, volume) }
    }

    private func admits(
        _ member: Member, at path: ResourcePath, walked: ResourcePath, _ properties: [StoredProperty],
        href: () -> [UInt8]
    ) throws(WebDAVError) -> Bool {
        guard let search else { return true }
        switch try search.admits(member, at: path, walked: walked, properties, href: href) {
        case .yes: return true
        case .no: return false
        case .paused:
            candidate = Candidate(
                member: member, path: path, walked: walked, properties: properties, href: href())
            return false
        }
    }

    /// Resumes the evaluation of a resource, and writes the resource if it matches.
    private func resume(_ resumed: Candidate) throws(WebDAVError) {
        candidate = nil
        guard
            try admits(
                resumed.member, at: resumed.path, walked: resumed.walked, resumed.properties,
                href: { resumed.href })
        else { return }
        responses.writer.beginResponse(href: resumed.href)
        try responses.write(resumed.member, at: resumed.path, properties: resumed.properties)
    }

    /// Writes a sorted search result with its current properties; a result that no longer exists is skipped.
    private func write(_ row: SearchRows.Row) throws(WebDAVError) {
        let lookup: Lookup
        do throws(StoreError) { lookup = try share.lookup.resource(at: row.path, wait: .allowed) } catch {
            if error.isOfOneResource { return }
            throw WebDAVError(store: error)
        }
        guard let info = lookup.info else { return }
        let known = try storing { () throws(StoreError) in
            try responses.boundedProperties(at: lookup.path, of: info)
        }
        guard let properties = known else {
            pendingRow = row
            return
        }
        responses.writer.beginResponse(href: row.href)
        try responses.write(Member(name: row.name, info: info), at: lookup.path, properties: properties)
    }

    private func enter(
        _ path: ResourcePath, href: [UInt8], _ identity: ResourceIdentity, _ volume: UInt64
    ) throws(StoreError) {
        levels.append(
            Level(
                cursor: try share.resources.members(of: path), path: path, href: href, identity: identity,
                volume: volume, hasProperties: responses.hasProperties(below: path)))
    }

    /// Writes the next member, enters the next subcollection, or leaves this collection.
    private func advance(_ level: Level) throws(WebDAVError) {
        guard let cursor = level.cursor else { return try enterNext(of: level) }
        if level.hasProperties || !level.pending.isEmpty, !level.isReadAgain {
            return try advanceWithProperties(level)
        }
        guard try storing({ () throws(StoreError) in try cursor.next(&member) }) else {
            return endReading(level)
        }
        if !level.isReadAgain {
            // The properties of a symbolic link are those of its target, which is a member of another
            // collection.
            if let path = member.canonicalPath {
                level.pending = [Pending(member: member, path: path)]
                return try advanceWithProperties(level)
            }
            try write(member, in: level)
        }
        keep(member, of: level)
    }

    private func endReading(_ level: Level) {
        level.cursor = nil
        level.collections.endReading()
        // Most collections have no subcollections to enter.
        if level.collections.isEmpty, !level.collections.hasForgotten { levels.removeLast() }
    }

    /// Records a member to be entered later, if the depth requires it.
    private func keep(_ member: Member, of level: Level) {
        guard member.info.isCollection, start(startCount - 1).depth == .infinity else { return }
        pendingBytes += level.collections.add(member)
        while pendingBytes > Self.pendingLimit {
            guard let largest = levels.max(by: { $0.collections.bytes < $1.collections.bytes }) else {
                return
            }
            // The innermost level keeps one name, so that each time it is read the traversal advances.
            let freed = largest.collections.forgetHalf(keepsOne: largest === level)
            if freed == 0 { return }
            pendingBytes -= freed
        }
    }

    private func enterNext(of level: Level) throws(WebDAVError) {
        let before = level.collections.bytes
        if let entry = level.collections.popFirst() {
            pendingBytes -= before - level.collections.bytes
            return try descend(entry, from: level)
        }
        guard level.collections.hasForgotten else {
            levels.removeLast()
            return
        }
        do throws(StoreError) { level.cursor = try share.resources.members(of: level.path) } catch {
            // The collection was deleted or replaced in the meantime.
            guard error.isOfOneResource else { throw WebDAVError(store: error) }
            levels.removeLast()
            return
        }
        level.isReadAgain = true
        level.collections.beginReadingAgain()
    }

    private func write(_ member: Member, in level: Level) throws(WebDAVError) {
        guard responses.needsPath else {
            return try write(member, at: level.path, properties: [], in: level)
        }
        guard let path = level.path.appending(member.name) else { return }
        try write(member, at: path, properties: [], in: level)
    }

    private func write(
        _ member: Member, at path: ResourcePath, properties: [StoredProperty], in level: Level
    ) throws(WebDAVError) {
        if search != nil {
            guard let walked = level.path.appending(member.name),
                try admits(
                    member, at: path, walked: walked, properties, href: { Self.href(of: member, in: level) })
            else { return }
        }
        responses.writer.beginResponse(
            href: level.href, member: member.name, isCollection: member.info.isCollection)
        try responses.write(member, at: path, properties: properties)
    }

    private static func href(of member: Member, in level: Level) -> [UInt8] {
        href(of: member.name, isCollection: member.info.isCollection, in: level)
    }

    private static func href(of name: [UInt8], isCollection: Bool, in level: Level) -> [UInt8] {
        var href = level.href
        PercentCoding.append(name, to: &href)
        if isCollection { href.append(UInt8(ascii: "/")) }
        return href
    }

    private func advanceWithProperties(_ level: Level) throws(WebDAVError) {
        if level.ready.isEmpty { try storing { () throws(StoreError) in try read(level) } }
        guard let next = level.ready.popLast() else {
            if !responses.needsSlot { endReading(level) }
            return
        }
        try write(next.member, at: next.path, properties: next.properties, in: level)
        keep(next.member, of: level)
    }

    /// Reads the next members, and the properties of as many of them as fit into memory together. Reads none
    /// at the end, or if a slot must be acquired first.
    private func read(_ level: Level) throws(StoreError) {
        if level.pending.isEmpty {
            guard let cursor = level.cursor else { return }
            level.pending = try cursor.next(limit: Self.readyLimit).map {
                Pending(
                    member: $0, path: $0.canonicalPath ?? level.path.appending($0.name) ?? level.path)
            }[...]
        }
        let properties = try responses.boundedProperties(
            of: level.pending.map { ($0.path, $0.member.info.identity) })
        level.ready = zip(level.pending, properties).reversed().map { pending, properties in
            Ready(member: pending.member, path: pending.path, properties: properties)
        }
        level.pending.removeFirst(properties.count)
    }

    /// Enters a subcollection, unless a symbolic link leads back to a collection on the current path.
    private func descend(_ entry: PendingCollections.Entry, from level: Level) throws(WebDAVError) {
        let isAncestor = levels.contains {
            $0.identity == entry.identity && $0.volume == entry.volume
        }
        if isAncestor { return }
        guard let path = entry.canonicalPath ?? level.path.appending(entry.name) else { return }
        let href = Self.href(of: entry.name, isCollection: true, in: level)
        try enterIfPossible(path, href: href, entry.identity, entry.volume)
    }

    private func enterIfPossible(
        _ path: ResourcePath, href: [UInt8], _ identity: ResourceIdentity, _ volume: UInt64
    ) throws(WebDAVError) {
        do throws(StoreError) { try enter(path, href: href, identity, volume) } catch {
            // Unreadable, or deleted in the meantime: the collection was listed, but its members are left
            // out.
            if !error.isOfOneResource { throw WebDAVError(store: error) }
        }
    }
}

extension StoreError {
    /// Whether the error concerns only the one resource that was accessed.
    fileprivate var isOfOneResource: Bool {
        switch self {
        case .forbidden, .notFound, .missingAncestor, .wrongKind, .loop, .invalidName, .nameTooLong: true
        default: false
        }
    }
}

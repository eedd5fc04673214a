internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Walks the target and its members and writes their responses, a piece at a time, so that memory stays
/// flat whatever the size of the tree. For SEARCH it walks several targets, and writes what the query admits.
///
/// All members of a collection are written before the members of the collections in it. So one collection is open at a
/// time, however deep the tree is.
///
/// Belongs to the task of its request, which lends it to one job of the pool at a time and waits for it: that
/// is what makes the unchecked conformance true.
final class PropFindStream: BodyStream, @unchecked Sendable {
    /// A collection on the way down.
    private final class Level {
        /// Nil once all members have been read.
        var cursor: (any MemberCursor)?
        /// The members to enter after that.
        var collections = PendingCollections()
        /// The members have been written before; this time the collection is read only to enter more of them.
        var isReadAgain = false
        /// Canonical.
        let path: ResourcePath
        /// With a slash at its end.
        let href: [UInt8]
        let identity: ResourceIdentity
        let volume: UInt64
        /// Some members may have dead properties that are asked for.
        let hasProperties: Bool
        /// Members whose properties have not been read yet, in order.
        var pending: ArraySlice<Pending> = []
        /// Members whose properties have been read, the next one last.
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

    /// A resource whose evaluation by a search was interrupted.
    private struct Candidate {
        let member: Member
        /// Canonical.
        let path: ResourcePath
        /// How the walk has come there.
        let walked: ResourcePath
        let properties: [StoredProperty]
        let href: [UInt8]
    }

    /// Where a walk begins.
    private struct Start {
        let depth: Depth
        /// Canonical.
        let target: ResourcePath
        let info: ResourceInfo
        /// As the client spells it.
        let href: [UInt8]
        let name: [UInt8]

        init(depth: Depth, target: ResourcePath, info: ResourceInfo, href: [UInt8], name: [UInt8]) {
            self.depth = depth
            self.target = target
            self.info = info
            self.href = href
            self.name = name
        }

        init(_ place: SearchPlan.Place) {
            self.init(
                depth: place.depth, target: place.target, info: place.info, href: place.href, name: place.name
            )
        }
    }

    /// Members whose properties are read at once.
    private static let readyLimit = 32
    /// Bytes of a piece; what a response adds over it stays until the next. The first one is small, so that the
    /// answer begins early; a hop to the pool and back for each costs as much as some ten members.
    private static let firstPieceBytes = 48 << 10
    private static let pieceBytes = 192 << 10
    /// Bytes in memory, about, of the names of collections that are still to be entered. With more than these some are
    /// forgotten, and their collection is read again.
    private static let pendingLimit = 2 << 20
    /// Steps of one piece, after which others get the thread: a search may come to many members and tell of none.
    private static let stepLimit = 8192

    private let share: Share
    private let context: RequestContext
    /// The only one of PROPFIND; apart, so that it needs no array.
    private let firstStart: Start
    private let otherStarts: [Start]
    /// How many of both have been begun.
    @safe @exclusivity(unchecked) private var startCount = 0
    /// Nil for PROPFIND.
    private let search: SearchRun?
    private let responses: PropertyResponses
    /// A result of a search whose properties could not be read yet.
    private var pendingRow: SearchRows.Row?
    /// Whether the answer is about the members of a collection, and not about the collection.
    let excludesRoot: Bool
    @safe @exclusivity(unchecked) private var levels: [Level] = []
    /// Nothing else is evaluated before this one.
    @safe @exclusivity(unchecked) private var candidate: Candidate?
    /// Bytes of the names that all levels keep.
    @safe @exclusivity(unchecked) private var pendingBytes = 0
    private var hasBegun = false
    private var hasEnded = false
    /// What is being written, in memory that all members share.
    @safe @exclusivity(unchecked) private var member = Member()

    init(
        share: Share, context: RequestContext, plan: PropFindPlan, depth: Depth, target: ResourcePath,
        info: ResourceInfo
    ) {
        self.share = share
        self.context = context
        // The name as the client spells it, which for an alias is not the canonical one.
        firstStart = Start(
            depth: depth, target: target, info: info, href: context.href, name: Array(context.path.name))
        otherStarts = []
        search = nil
        responses = PropertyResponses(share: share, context: context, plan: plan)
        excludesRoot = info.isCollection && depth != .zero && Self.excludesRoot(context.request)
    }

    /// RFC 8144 §4, and the older way to say it in Depth.
    private static func excludesRoot(_ request: HTTPRequest) -> Bool {
        if request.contains(.prefer), ResponsePreferences(request).excludesRoot { return true }
        return request.withValue(of: .depth) { Depth.excludesRoot($0) } ?? false
    }

    init(share: Share, context: RequestContext, search plan: SearchPlan) {
        self.share = share
        self.context = context
        // The grammar wants one scope at least.
        firstStart = Start(plan.places[0])
        otherStarts = plan.places.dropFirst().map { Start($0) }
        search = SearchRun(plan, share: share)
        excludesRoot = false
        responses = PropertyResponses(share: share, context: context, plan: plan.properties)
    }

    /// The state of the share (RFC 6578 §4), where that is asked for.
    var syncToken: (text: String, root: ResourcePath)? {
        get { responses.syncToken }
        set { responses.syncToken = newValue }
    }

    /// Makes the first piece.
    /// - Throws: when the target, or its members, cannot be read.
    func start() async throws(WebDAVError) {
        repeat { try await makePiece() } while startCount == 0
    }

    /// Has a piece made on another thread. A search is told there that its client has disconnected.
    private func makePiece() async throws(WebDAVError) {
        try await responses.takeSlotIfNeeded()
        defer { responses.releaseSlotIfDrained() }
        guard takesLong, hasBegun || search != nil else {
            return try await share.offload { () throws(WebDAVError) in try self.writePiece() }
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
        try await share.offloadLong(for: context.request.client, hasBegun ? .continues : .begins) {
            () throws(WebDAVError) in
            try self.writePiece()
        }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while responses.writer.count == 0 && !hasEnded {
                // A search can take long without a result; no failing write reports that its client disconnected.
                if search != nil, Task.isCancelled { throw WebDAVError.busy }
                try await makePiece()
            }
        } catch {
            // The head is out: the connection is cut, so that nobody takes a part for the whole.
            throw .disconnected
        }
        _ = responses.writer.take(into: buffer)
        responses.releaseSlotIfDrained()
    }

    /// Whether the walk may visit a whole tree. What fits into the first piece of a PROPFIND is short work all the same.
    private var takesLong: Bool { search != nil || firstStart.depth == .infinity }

    /// True if no members are asked for.
    var isOfOneResource: Bool {
        search == nil && (firstStart.depth == .zero || !firstStart.info.isCollection)
    }

    /// The whole answer for one resource, on the loop where nothing needs to wait.
    /// - Returns: nil if it is large: it is made, and is to be sent as a stream.
    func whole() async throws(WebDAVError) -> [UInt8]? {
        if let bytes = try wholeAtOnce() { return bytes }
        repeat { try await makePiece() } while !hasEnded
        return responses.slot == nil ? responses.writer.drain() : nil
    }

    /// As ``whole()``; nil if that would have to wait.
    func wholeAtOnce() throws(WebDAVError) -> [UInt8]? {
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
        // A little more, for what the last response adds over it.
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

    /// The next member, the next target, the next result in order, or the end.
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

    /// Comes to no further resource.
    private func endWalk() {
        levels.removeAll()
        startCount = otherStarts.count + 1
    }

    private func end() throws(WebDAVError) {
        levels.removeAll()
        hasEnded = true
        if search?.isTruncated == true {
            // RFC 5323 §2.3.1: the answer has a part of the results.
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
        search?.place = startCount
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
        // What cannot be read at all has a status, while the head is not out.
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

    /// Goes on evaluating a resource, and writes it if it is a result.
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

    /// Writes a result of a search in its place, as it is now; what has gone meanwhile is left out.
    private func write(_ row: SearchRows.Row) throws(WebDAVError) {
        let lookup: Lookup
        do throws(StoreError) { lookup = try share.look(at: row.path, wait: .allowed) } catch {
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

    /// Writes the next member, enters the next collection, or leaves this one.
    private func advance(_ level: Level) throws(WebDAVError) {
        guard let cursor = level.cursor else { return try enterNext(of: level) }
        if level.hasProperties || !level.pending.isEmpty, !level.isReadAgain {
            return try advanceWithProperties(level)
        }
        guard try storing({ () throws(StoreError) in try cursor.next(&member) }) else {
            return endReading(level)
        }
        if !level.isReadAgain {
            // A link's properties are those of its target, which is a member of another collection.
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
        // Most collections have nothing to enter.
        if level.collections.isEmpty, !level.collections.hasForgotten { levels.removeLast() }
    }

    /// Keeps a member that is to be entered later, if that is asked for.
    private func keep(_ member: Member, of level: Level) {
        guard member.info.isCollection, start(startCount - 1).depth == .infinity else { return }
        pendingBytes += level.collections.add(member)
        while pendingBytes > Self.pendingLimit {
            guard let largest = levels.max(by: { $0.collections.bytes < $1.collections.bytes }) else {
                return
            }
            // The innermost level keeps one name, so that each reading of it gets further.
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
            // Gone meanwhile, or another thing.
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

    /// Reads the next members, and the properties of as many of them as may be held together; none at the end, and where
    /// a slot is needed first.
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

    /// Goes into a member, unless a link leads back to a collection on the way down.
    private func descend(_ entry: PendingCollections.Entry, from level: Level) throws(WebDAVError) {
        let isOnTheWay = levels.contains {
            $0.identity == entry.identity && $0.volume == entry.volume
        }
        if isOnTheWay { return }
        guard let path = entry.canonicalPath ?? level.path.appending(entry.name) else { return }
        let href = Self.href(of: entry.name, isCollection: true, in: level)
        try enterIfPossible(path, href: href, entry.identity, entry.volume)
    }

    private func enterIfPossible(
        _ path: ResourcePath, href: [UInt8], _ identity: ResourceIdentity, _ volume: UInt64
    ) throws(WebDAVError) {
        do throws(StoreError) { try enter(path, href: href, identity, volume) } catch {
            // Not readable, or gone meanwhile: it was listed, and its members are not to be had.
            if !error.isOfOneResource { throw WebDAVError(store: error) }
        }
    }
}

extension StoreError {
    /// It says something about the one resource that was asked for, and nothing about others.
    fileprivate var isOfOneResource: Bool {
        switch self {
        case .forbidden, .notFound, .missingAncestor, .wrongKind, .loop, .invalidName, .nameTooLong: true
        default: false
        }
    }
}

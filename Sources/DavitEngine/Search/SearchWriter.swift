internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Traverses the scopes of a search and writes the responses of the resources that match, one piece at a
/// time.
struct SearchWriter {
    /// Size in bytes at which a piece ends; the last resource of a piece can exceed it. The first piece is
    /// small, so that the response begins early.
    private static let firstPieceBytes = 48 << 10
    private static let pieceBytes = 192 << 10
    /// Maximum number of members, starting points and sorted results that one piece processes, so that other
    /// jobs get the thread: a search may visit many members without a match.
    private static let stepLimit = 8192
    /// Reading the clock takes as long as some tests.
    private static let stepsPerClockCheck = 16

    /// A resource to be evaluated, or whose evaluation was paused.
    private struct Candidate {
        let member: Member
        /// Canonical path.
        let path: ResourcePath
        /// The path on which the traversal reached the resource.
        let walked: ResourcePath
        let properties: [StoredProperty]
        let href: [UInt8]
    }

    private let share: Share
    /// The href of the request.
    private let requestHref: [UInt8]
    let responses: PropertyResponses
    private let search: SearchRun
    private let starts: [TraversalStart]
    private let conditionBytes: Int
    /// Number of starting points that have been processed.
    private(set) var startCount = 0
    private var traversal: PropertyTraversal
    /// If set, this resource is evaluated before any other.
    private var candidate: Candidate?
    /// A sorted result whose properties could not be read yet.
    private var pendingRow: SearchRows.Row?
    private(set) var hasBegun = false
    private(set) var hasEnded = false

    init(share: Share, context: RequestContext, plan: SearchPlan, meter: SearchMeter) {
        self.share = share
        requestHref = context.href
        starts = plan.places
        conditionBytes = plan.conditionBytes
        search = SearchRun(plan, meter: meter, share: share)
        responses = PropertyResponses(share: share, context: context, plan: plan.properties)
        traversal = PropertyTraversal(responses)
        responses.keep(bytes: conditionBytes)
    }

    /// Whether another piece is to be written.
    var needsPiece: Bool { responses.writer.count == 0 && !hasEnded }

    mutating func writePiece() throws(WebDAVError) {
        let limit = hasBegun ? Self.pieceBytes : Self.firstPieceBytes
        if !hasBegun {
            hasBegun = true
            responses.writer.begin()
            try beginNext()
        }
        var steps = 0
        search.meter.beginPiece()
        while responses.writer.count < limit, steps < Self.stepLimit, !hasEnded, !responses.needsSlot {
            if steps > 0, search.meter.isPieceOver(checksClock: steps % Self.stepsPerClockCheck == 0) {
                break
            }
            if search.isExhausted { endTraversal() }
            steps += 1
            if search.isOver { end() } else { try step() }
            responses.keep(bytes: conditionBytes + search.storedBytes)
        }
        responses.endPiece()
    }

    /// Processes the next member, the next starting point or the next sorted result, or ends the response.
    private mutating func step() throws(WebDAVError) {
        if let candidate { return try evaluate(candidate) }
        switch try traversal.next() {
        case .member(let properties): return try evaluateMember(properties)
        case .none: return
        case .end: break
        }
        if startCount < starts.count { return try beginNext() }
        if let row = pendingRow {
            pendingRow = nil
            return try write(row)
        }
        switch search.nextRow() {
        case .row(let row): try write(row)
        case .pending: break
        case .end: end()
        }
    }

    /// Ends the traversal; no further resources are visited.
    private mutating func endTraversal() {
        traversal.stop()
        startCount = starts.count
    }

    private mutating func end() {
        traversal.stop()
        hasEnded = true
        if search.isTruncated {
            // RFC 5323 §2.3.1: the response contains only part of the results.
            responses.writer.beginResponse(href: requestHref)
            responses.writer.responseStatus(.insufficientStorage)
            responses.writer.endResponse(
                description: search.isExhausted
                    ? "The search was too expensive and is incomplete: use a smaller scope or a simpler condition."
                    : "The response contains only part of the results.")
        }
        responses.writer.end()
    }

    // MARK: Traversal

    /// Evaluates the next starting point and opens it, unless a slot must be acquired first.
    private mutating func beginNext() throws(WebDAVError) {
        let start = starts[startCount]
        let known = try reading { () throws(StoreError) in
            try responses.boundedProperties(at: start.target, of: start.info)
        }
        guard let properties = known else { return }
        search.position = startCount
        startCount += 1
        try evaluate(
            Candidate(
                member: start.member, path: start.target, walked: start.target, properties: properties,
                href: start.href))
        guard start.hasMembers else { return }
        do throws(StoreError) { try traversal.begin(at: start) } catch {
            // For the first starting point the head has not been sent yet, so that an error still determines
            // the status.
            if startCount == 1 || !error.concernsOneResource { throw WebDAVError(reading: error) }
        }
    }

    /// Evaluates the current member, and writes it if it matches. Most members do not match, so their hrefs
    /// are not created.
    private mutating func evaluateMember(_ properties: [StoredProperty]) throws(WebDAVError) {
        let (member, path) = (traversal.member, traversal.path)
        switch try search.admits(
            member, at: path, properties, walked: { traversal.walkedPath }, href: { traversal.href })
        {
        case .yes:
            responses.writer.beginResponse(
                href: traversal.collectionHref, member: member.name, isCollection: member.info.isCollection)
            try responses.write(member, at: path, properties: properties)
        case .no: return
        case .paused:
            candidate = Candidate(
                member: member, path: path, walked: traversal.walkedPath, properties: properties,
                href: traversal.href)
        }
    }

    /// Evaluates a resource or resumes its evaluation, and writes the resource if it matches.
    private mutating func evaluate(_ resource: Candidate) throws(WebDAVError) {
        candidate = nil
        switch try search.admits(
            resource.member, at: resource.path, resource.properties, walked: { resource.walked },
            href: { resource.href })
        {
        case .yes:
            responses.writer.beginResponse(href: resource.href)
            try responses.write(resource.member, at: resource.path, properties: resource.properties)
        case .no: return
        case .paused: candidate = resource
        }
    }

    // MARK: Sorted results

    /// Writes a sorted search result with its current properties; a result that no longer exists is skipped.
    private mutating func write(_ row: SearchRows.Row) throws(WebDAVError) {
        let lookup: Lookup
        do throws(StoreError) { lookup = try share.lookup.resource(at: row.path, wait: .allowed) } catch {
            if error.concernsOneResource { return }
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
}

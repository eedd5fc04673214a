internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Walks the target and its members and writes their responses, a piece at a time, so that memory stays
/// flat whatever the size of the tree.
///
/// Belongs to the task of its request, which lends it to one job of the pool at a time and waits for it: that
/// is what makes the unchecked conformance true.
final class PropFindStream: BodyStream, @unchecked Sendable {
    /// A collection on the way down.
    private struct Level {
        var cursor: any MemberCursor
        /// Canonical.
        var path: ResourcePath
        /// With a slash at its end.
        var href: [UInt8]
        let info: ResourceInfo
        var records: [[UInt8]: PropertyRecord]
        /// What the cursor gave last, and how much of it is written.
        var members: [Member] = []
        var written = 0
    }

    /// Bytes of one piece; what a response adds over it stays until the next.
    private static let pieceBytes = 48 << 10

    private let share: Share
    private let context: RequestContext
    private let depth: Depth
    private let target: ResourcePath
    private let info: ResourceInfo
    private let responses: PropertyResponses
    @safe @exclusivity(unchecked) private var levels: [Level] = []
    private var hasBegun = false
    private var hasEnded = false
    /// The encoded name of the member that is being written.
    @safe @exclusivity(unchecked) private var segment: [UInt8] = []

    init(
        share: Share, context: RequestContext, plan: PropFindPlan, depth: Depth, target: ResourcePath,
        info: ResourceInfo
    ) {
        self.share = share
        self.context = context
        self.depth = depth
        self.target = target
        self.info = info
        responses = PropertyResponses(share: share, context: context, plan: plan)
    }

    /// Makes the first piece.
    /// - Throws: when the target, or its members, cannot be read.
    func start() async throws(WebDAVError) {
        try await share.offload { () throws(WebDAVError) in try self.writePiece() }
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        do throws(WebDAVError) {
            while responses.writer.count == 0 && !hasEnded {
                try await share.offload { () throws(WebDAVError) in try self.writePiece() }
            }
        } catch {
            // The head is out: the connection is cut, so that nobody takes a part for the whole.
            throw .disconnected
        }
        _ = responses.writer.take(into: buffer)
    }

    /// The whole answer for one resource, on the loop where nothing needs to wait.
    func whole() async throws(WebDAVError) -> [UInt8] {
        if responses.mayBlock(at: target) {
            try await share.offload { () throws(WebDAVError) in try self.writePiece() }
        } else {
            try writePiece()
        }
        return responses.writer.drain()
    }

    private func writePiece() throws(WebDAVError) {
        if !hasBegun { try begin() }
        while responses.writer.count < Self.pieceBytes, !levels.isEmpty { try advance() }
        if levels.isEmpty && !hasEnded {
            hasEnded = true
            responses.writer.end()
        }
    }

    private func begin() throws(WebDAVError) {
        hasBegun = true
        responses.writer.begin()
        var href = context.href
        if info.isCollection && href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        let properties = try storing { () throws(StoreError) in
            try responses.properties(at: target, of: info)
        }
        responses.writer.beginResponse(href: href)
        // The name as the client spells it, which for an alias is not the canonical one.
        try responses.write(
            Member(name: Array(context.path.name), info: info), at: target, properties: properties
        )
        if info.isCollection && depth != .zero {
            try storing { () throws(StoreError) in
                try enter(target, href: href, info)
            }
        }
    }

    private func enter(
        _ path: ResourcePath, href: [UInt8], _ info: ResourceInfo
    ) throws(StoreError) {
        let cursor = try share.resources.members(of: path)
        let records = try responses.records(ofMembersOf: path)
        levels.append(Level(cursor: cursor, path: path, href: href, info: info, records: records))
    }

    /// Writes some members, or fetches the next ones, or leaves the collection.
    private func advance() throws(WebDAVError) {
        let top = levels.count - 1
        guard levels[top].written < levels[top].members.count else {
            let members = try storing { () throws(StoreError) in try levels[top].cursor.next() }
            guard !members.isEmpty else {
                levels.removeLast()
                return
            }
            levels[top].members = members
            levels[top].written = 0
            return
        }
        let level = levels[top]
        for index in level.written..<level.members.count {
            levels[top].written = index + 1
            let member = level.members[index]
            try write(member, in: level)
            if depth == .infinity && member.info.isCollection {
                // Its members come next.
                return try descend(member, from: level)
            }
            if responses.writer.count >= Self.pieceBytes { return }
        }
    }

    private func write(_ member: Member, in level: Level) throws(WebDAVError) {
        segment.removeAll(keepingCapacity: true)
        PercentCoding.append(member.name, to: &segment)
        responses.writer.beginResponse(
            href: level.href, member: segment, isCollection: member.info.isCollection)
        guard responses.needsPath else {
            return try responses.write(member, at: level.path, properties: [])
        }
        guard let path = member.canonicalPath ?? level.path.appending(member.name) else { return }
        let properties = try storing { () throws(StoreError) in
            try self.properties(of: member, at: path, in: level)
        }
        try responses.write(member, at: path, properties: properties)
    }

    private func properties(
        of member: Member, at path: ResourcePath, in level: Level
    ) throws(StoreError) -> [StoredProperty] {
        // A link's properties are those of what it leads to, which is a member of another collection.
        if member.canonicalPath != nil { return try responses.properties(at: path, of: member.info) }
        guard let record = level.records[member.name] else { return [] }
        return record.binding.holds(for: member.info.identity) ? record.properties : []
    }

    /// Goes into a member, unless a link leads back to a collection on the way down.
    private func descend(_ member: Member, from level: Level) throws(WebDAVError) {
        let info = member.info
        let isOnTheWay = levels.contains {
            $0.info.identity == info.identity && $0.info.volume == info.volume
        }
        if isOnTheWay { return }
        guard let path = member.canonicalPath ?? level.path.appending(member.name) else { return }
        do throws(StoreError) {
            try enter(path, href: level.href + segment + [UInt8(ascii: "/")], info)
        } catch {
            switch error {
            // Not readable, or gone meanwhile: it was listed, and its members are not to be had.
            case .forbidden, .notFound, .missingAncestor, .wrongKind, .loop, .invalidName: return
            default: throw WebDAVError(store: error)
            }
        }
    }
}

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
    private final class Level {
        let cursor: any MemberCursor
        /// Canonical.
        let path: ResourcePath
        /// With a slash at its end.
        let href: [UInt8]
        let info: ResourceInfo
        /// Some members may have dead properties that are asked for.
        let hasProperties: Bool
        /// Members whose properties have been read, the next one last.
        var ready: [Ready] = []

        init(
            cursor: any MemberCursor, path: ResourcePath, href: [UInt8], info: ResourceInfo,
            hasProperties: Bool
        ) {
            self.cursor = cursor
            self.path = path
            self.href = href
            self.info = info
            self.hasProperties = hasProperties
        }
    }

    private struct Ready {
        let member: Member
        let path: ResourcePath
        let properties: [StoredProperty]
    }

    /// Members whose properties are read at once.
    private static let readyLimit = 32
    /// Bytes of a piece; what a response adds over it stays until the next. The first one is small, so that the
    /// answer begins early; a hop to the pool and back for each costs as much as some ten members.
    private static let firstPieceBytes = 48 << 10
    private static let pieceBytes = 192 << 10

    private let share: Share
    private let context: RequestContext
    private let depth: Depth
    private let target: ResourcePath
    private let info: ResourceInfo
    private let responses: PropertyResponses
    @safe @exclusivity(unchecked) private var levels: [Level] = []
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
        self.depth = depth
        self.target = target
        self.info = info
        responses = PropertyResponses(share: share, context: context, plan: plan)
    }

    /// The state of the share (RFC 6578 §4), where that is asked for.
    var syncToken: String? {
        get { responses.syncToken }
        set { responses.syncToken = newValue }
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

    /// True if no members are asked for.
    var isOfOneResource: Bool { depth == .zero || !info.isCollection }

    /// The whole answer for one resource, on the loop where nothing needs to wait.
    func whole() async throws(WebDAVError) -> [UInt8] {
        if let bytes = try wholeAtOnce() { return bytes }
        try await share.offload { () throws(WebDAVError) in try self.writePiece() }
        return responses.writer.drain()
    }

    /// As ``whole()``; nil if that would have to wait.
    func wholeAtOnce() throws(WebDAVError) -> [UInt8]? {
        if responses.mayBlock(at: target) { return nil }
        try writePiece()
        return responses.writer.drain()
    }

    private func writePiece() throws(WebDAVError) {
        let limit = hasBegun ? Self.pieceBytes : Self.firstPieceBytes
        if !hasBegun { try begin() }
        // A little more, for what the last response adds over it.
        if !levels.isEmpty { responses.writer.reserve(limit + 4096 - responses.writer.count) }
        while responses.writer.count < limit, let level = levels.last { try advance(level) }
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
        levels.append(
            Level(
                cursor: try share.resources.members(of: path), path: path, href: href, info: info,
                hasProperties: responses.hasProperties(below: path)))
    }

    /// Writes the next member, or leaves the collection.
    private func advance(_ level: Level) throws(WebDAVError) {
        if level.hasProperties { return try advanceWithProperties(level) }
        guard try storing({ () throws(StoreError) in try level.cursor.next(&member) }) else {
            levels.removeLast()
            return
        }
        try write(member, in: level)
        try descend(member, from: level)
    }

    private func write(_ member: Member, in level: Level) throws(WebDAVError) {
        // A link's properties are those of what it leads to, which is a member of another collection.
        if let path = member.canonicalPath {
            let properties = try storing { () throws(StoreError) in
                try responses.properties(at: path, of: member.info)
            }
            return try write(member, at: path, properties: properties, in: level)
        }
        guard responses.needsPath else {
            return try write(member, at: level.path, properties: [], in: level)
        }
        guard let path = level.path.appending(member.name) else { return }
        try write(member, at: path, properties: [], in: level)
    }

    private func write(
        _ member: Member, at path: ResourcePath, properties: [StoredProperty], in level: Level
    ) throws(WebDAVError) {
        responses.writer.beginResponse(
            href: level.href, member: member.name, isCollection: member.info.isCollection)
        try responses.write(member, at: path, properties: properties)
    }

    private func advanceWithProperties(_ level: Level) throws(WebDAVError) {
        if level.ready.isEmpty {
            level.ready = try storing { () throws(StoreError) in try read(level) }
        }
        guard let next = level.ready.popLast() else {
            levels.removeLast()
            return
        }
        try write(next.member, at: next.path, properties: next.properties, in: level)
        try descend(next.member, from: level)
    }

    /// The next members with their properties, in reverse order; empty at the end.
    private func read(_ level: Level) throws(StoreError) -> [Ready] {
        let members = try level.cursor.next(limit: Self.readyLimit)
        let paths = members.map { $0.canonicalPath ?? level.path.appending($0.name) ?? level.path }
        let properties = try responses.properties(of: zip(paths, members).map { ($0, $1.info.identity) })
        return members.indices.reversed().map { place in
            Ready(member: members[place], path: paths[place], properties: properties[place])
        }
    }

    /// Goes into a member, if that is asked for, unless a link leads back to a collection on the way down.
    private func descend(_ member: Member, from level: Level) throws(WebDAVError) {
        let info = member.info
        guard depth == .infinity && info.isCollection else { return }
        let isOnTheWay = levels.contains {
            $0.info.identity == info.identity && $0.info.volume == info.volume
        }
        if isOnTheWay { return }
        guard let path = member.canonicalPath ?? level.path.appending(member.name) else { return }
        do throws(StoreError) {
            var href = level.href
            PercentCoding.append(member.name, to: &href)
            href.append(UInt8(ascii: "/"))
            try enter(path, href: href, info)
        } catch {
            switch error {
            // Not readable, or gone meanwhile: it was listed, and its members are not to be had.
            case .forbidden, .notFound, .missingAncestor, .wrongKind, .loop, .invalidName: return
            default: throw WebDAVError(store: error)
            }
        }
    }
}

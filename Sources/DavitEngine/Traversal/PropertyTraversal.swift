internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Visits the members of a collection as PROPFIND and SEARCH return them: with their hrefs and dead
/// properties.
///
/// Links to collections are followed. The members of a collection that cannot be opened are left out.
struct PropertyTraversal {
    enum Step {
        /// The next resource is ``PropertyTraversal/member``, with these dead properties.
        case member([StoredProperty])
        /// No resource was found in this step, or a slot must be acquired first; see
        /// ``PropertyResponses/needsSlot``.
        case none
        case end
    }

    private struct LocatedMember {
        let member: Member
        let path: ResourcePath
    }

    /// Maximum number of members whose properties are read together: more, if each time takes a round trip to a database.
    private let batchSize: Int

    private let responses: PropertyResponses
    private var traversal: TreeTraversal
    /// The href of the collection that contains the current resource; ends in a slash.
    private(set) var collectionHref: [UInt8] = []
    /// The lengths of the hrefs of the collections that contain the current one, each of which is a prefix of the next.
    private var outerLengths: [Int] = []
    /// Whether members of the current collection may have requested dead properties.
    private var hasProperties = false
    /// Members whose properties are read together, and which of them is the next to visit.
    private var batch: [LocatedMember] = []
    private var position = 0
    /// The properties of those members of the batch for which they have been read, up to ``readEnd``.
    private var properties: [[StoredProperty]] = []
    private var readEnd = 0

    /// The current resource; its memory is reused for all members.
    private(set) var member = Member()
    /// The canonical path of the current resource; may be the path of its collection if no requested property
    /// depends on the path of a resource.
    private(set) var path = ResourcePath.root
    /// Whether ``path`` is already the path of the current collection.
    private var isPathOfCollection = false

    init(_ responses: PropertyResponses) {
        self.responses = responses
        batchSize = responses.share.hasSessions ? 256 : 32
        traversal = TreeTraversal(of: responses.share.resources, followsLinks: true)
    }

    /// Whether there is nothing more to visit.
    var isAtEnd: Bool { traversal.isAtEnd }
    /// The path on which the traversal has reached the current resource; it differs from ``path`` for a link
    /// and below a link.
    var walkedPath: ResourcePath { traversal.path.appending(member.name) ?? traversal.path }

    /// The href of the current resource.
    var href: [UInt8] { href(of: member.name, isCollection: member.info.isCollection) }

    private func href(of name: [UInt8], isCollection: Bool) -> [UInt8] {
        var href = collectionHref
        PercentCoding.append(name, to: &href)
        if isCollection { href.append(UInt8(ascii: "/")) }
        return href
    }

    /// Opens the collection of a starting point.
    /// - Throws: an error if it cannot be opened.
    mutating func begin(at start: TraversalStart) throws(StoreError) {
        try traversal.begin(at: start.target, start.info, depth: start.depth == .infinity ? .max : 1)
        enter(href: start.href)
    }

    /// Ends the traversal; no further resources are visited.
    mutating func stop() {
        traversal.stop()
        (collectionHref, outerLengths) = ([], [])
        endBatch()
    }

    private mutating func endBatch() {
        batch.removeAll(keepingCapacity: true)
        (position, properties, readEnd) = (0, [], 0)
    }

    /// Visits the next member, or enters or leaves a collection.
    /// - Throws: an error if the current collection cannot be read further, or if an error does not concern
    ///   only one resource.
    mutating func next() throws(WebDAVError) -> Step {
        if position < batch.count { return try nextWithProperties() }
        switch traversal.next(&member) {
        case .member:
            // The properties of a link are those of its target, which is a member of another collection.
            if hasProperties || member.canonicalPath != nil { return try collect() }
            if responses.needsPath {
                guard let own = traversal.path.appending(member.name) else { return .none }
                path = own
            } else if !isPathOfCollection {
                path = traversal.path
                isPathOfCollection = true
            }
            return .member([])
        case .listed, .passed: return .none
        case .entered(let name):
            enter(href: href(of: name, isCollection: true))
            return .none
        case .left:
            collectionHref.removeLast(collectionHref.count - outerLengths.removeLast())
            isPathOfCollection = false
            return .none
        case .interrupted(let error): throw WebDAVError(reading: error)
        case .inaccessible(_, let error):
            // Unreadable, or deleted in the meantime: the collection was listed, but its members are left
            // out.
            if !error.concernsOneResource { throw WebDAVError(reading: error) }
            return .none
        case .end: return .end
        }
    }

    private mutating func enter(href: [UInt8]) {
        outerLengths.append(collectionHref.count)
        collectionHref = href
        isPathOfCollection = false
        hasProperties = responses.hasProperties(below: traversal.path)
    }

    /// Collects the current member and, if the collection has properties, the members after it, so that
    /// their properties are read together.
    private mutating func collect() throws(WebDAVError) -> Step {
        endBatch()
        batch.append(locate())
        // Paths in a very deep collection occupy more memory than properties.
        let limit = min(batchSize, PropertyResponses.unreservedBytes / (traversal.path.bytes.count + 1))
        reading: while hasProperties, batch.count < limit {
            switch traversal.next(&member) {
            case .member: batch.append(locate())
            case .interrupted(let error): throw WebDAVError(reading: error)
            // No collection is entered or left before all members have been returned.
            case .listed, .passed, .entered, .left, .inaccessible, .end: break reading
            }
        }
        return try nextWithProperties()
    }

    private func locate() -> LocatedMember {
        let path = traversal.path
        return LocatedMember(
            member: member, path: member.canonicalPath ?? path.appending(member.name) ?? path)
    }

    private mutating func nextWithProperties() throws(WebDAVError) -> Step {
        if position == readEnd {
            try storing { () throws(StoreError) in try readProperties() }
            if position == readEnd { return .none }
        }
        (member, path) = (batch[position].member, batch[position].path)
        isPathOfCollection = false
        // They should not occupy memory longer than it takes to write them.
        var own: [StoredProperty] = []
        swap(&own, &properties[properties.count - (readEnd - position)])
        position += 1
        return .member(own)
    }

    /// Reads the properties of as many of the pending members as fit into memory together; of none if a slot
    /// must be acquired first.
    private mutating func readProperties() throws(StoreError) {
        properties = try responses.boundedProperties(
            of: batch[position...].map { ($0.path, $0.member.info.identity) })
        readEnd = position + properties.count
    }
}

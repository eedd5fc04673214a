internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A bound on the memory that slow clients can hold: a response reads few properties at a time, and takes a slot of the
/// share before it reads those of a resource that has many.
extension PropertyResponses {
    /// Bytes of names and values that a response may read without a slot.
    static let unreservedBytes = 64 << 10

    /// The dead properties of the first of several resources: as many as may be held together.
    ///
    /// - Returns: none, and ``needsSlot`` is set, if those of the first resource are many and the response has no slot.
    func boundedProperties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)]
    ) throws(StoreError) -> [[StoredProperty]] {
        guard plan.wantsDead else { return Array(repeating: [], count: resources.count) }
        let found = try properties(of: resources, limitBytes: Self.unreservedBytes)
        guard found.isEmpty, let first = resources.first else { return found }
        guard slot != nil else {
            needsSlot = true
            return []
        }
        return try properties(of: [first])
    }

    /// The dead properties of one resource; nil, and ``needsSlot`` is set, if they are many and the response has no slot.
    func boundedProperties(
        at path: ResourcePath, of info: ResourceInfo
    ) throws(StoreError) -> [StoredProperty]? {
        guard share.state.hasRows(at: path) else { return [] }
        return try boundedProperties(of: [(path, info.identity)]).first
    }

    /// Waits for a slot if one is needed.
    /// - Throws: 503 if too many wait.
    func takeSlotIfNeeded() async throws(WebDAVError) {
        guard needsSlot else { return }
        guard let taken = await share.largeReads.enter(check.context.client) else {
            share.logRefusal("responses with large properties", check.context)
            throw .busy
        }
        slot = taken
        needsSlot = false
    }

    /// Gives the slot back if most of what was read has been sent.
    func releaseSlotIfDrained() {
        if slot != nil, writer.count <= Self.unreservedBytes { slot = nil }
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Limits the memory that responses to slow clients can occupy: a response reads few properties at a time,
/// and must acquire one of the slots of ``Share/largeReads`` to read those of a resource that has many, to keep many
/// results until they are sorted, or if many or long names are requested.
extension PropertyResponses {
    /// The maximum size in bytes of names and values that a response may read without a slot.
    static let unreservedBytes = ClientSlots.unreservedBytes

    /// Returns the dead properties of `resources` in order, up to a total size of ``unreservedBytes``. If those
    /// of the first resource exceed this limit, returns only them, which requires a slot. The locks on the resources count,
    /// too.
    ///
    /// - Returns: an empty array, with ``needsSlot`` set, if the first resource exceeds the limit and the
    ///   response has no slot.
    func boundedProperties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)]
    ) throws(StoreError) -> [[StoredProperty]] {
        let resources = withoutExcessiveLocks(resources)
        if resources.isEmpty { return [] }
        guard plan.wantsDead else { return Array(repeating: [], count: resources.count) }
        let found = try properties(of: resources, limitBytes: Self.unreservedBytes)
        guard found.isEmpty, let first = resources.first else { return found }
        guard slot != nil else {
            needsSlot = true
            return []
        }
        return try properties(of: [first])
    }

    /// Returns the dead properties of a resource; nil, with ``needsSlot`` set, if they exceed the limit and
    /// the response has no slot.
    func boundedProperties(
        at path: ResourcePath, of info: ResourceInfo
    ) throws(StoreError) -> [StoredProperty]? {
        guard plan.wantsDead && share.state.hasRows(at: path) || canHaveExcessiveLocks else { return [] }
        return try boundedProperties(of: [(path, info.identity)]).first
    }

    /// Whether the locks on one resource can exceed ``unreservedBytes``.
    var canHaveExcessiveLocks: Bool { plan.wantsLocks && share.state.lockBytes > Self.unreservedBytes }

    /// Returns the first of `resources` whose locks do not exceed ``unreservedBytes`` in total. If those on the first one
    /// exceed it, returns only that one if the response has a slot; otherwise none, with ``needsSlot`` set.
    private func withoutExcessiveLocks(
        _ resources: [(path: ResourcePath, identity: ResourceIdentity)]
    ) -> [(path: ResourcePath, identity: ResourceIdentity)] {
        guard canHaveExcessiveLocks, let first = resources.first else { return resources }
        var bytes = 0
        let bounded = resources.prefix { resource in
            bytes += share.state.locks(covering: resource.path, now: check.context.now)
                .reduce(0) { $0 + $1.chargedBytes }
            return bytes <= Self.unreservedBytes
        }
        if !bounded.isEmpty { return Array(bounded) }
        if slot != nil { return [first] }
        needsSlot = true
        return []
    }

    /// Sets the size in bytes of what the response keeps in addition to the names of its plan. Above ``unreservedBytes`` in
    /// total, it needs a slot to continue.
    func keep(bytes: Int) {
        keptBytes = plan.nameBytes + bytes
        if keptBytes > Self.unreservedBytes, slot == nil { needsSlot = true }
    }

    func use(_ taken: ClientSlots.Slot) {
        slot = taken
        needsSlot = false
    }

    /// Releases the slot if little of the response remains to be sent.
    func releaseSlotIfDrained() {
        if slot != nil, writer.count + keptBytes <= Self.unreservedBytes { slot = nil }
    }
}

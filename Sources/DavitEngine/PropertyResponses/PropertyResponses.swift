internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Writes the `response` elements of resources, with the properties that a plan specifies. Each HTTP response
/// has its own instance.
final class PropertyResponses {
    let share: Share
    let plan: PropFindPlan
    let check: WriteGuard
    /// Nil if neither the plan nor an enclosing response contains expansions.
    let expansions: ExpansionBudget?
    let writer = MultistatusWriter()
    /// Whether to omit missing properties (RFC 8144 §2.1).
    private let isMinimal: Bool
    /// The principals that the client can see.
    private(set) lazy var principals = Principals(check.context)
    /// The value of `sync-token` for the collections at and below a path that the journal has compared with
    /// the file system; nil if it was not requested or there is no journal. Collections elsewhere, to which
    /// symbolic links lead, have no token, because earlier removals in them would not be reported.
    @safe @exclusivity(unchecked) var syncToken: (text: String, root: ResourcePath)?
    @safe @exclusivity(unchecked) private var missing: [EmptyPropertyElement] = []
    @safe @exclusivity(unchecked) private var scratch: [UInt8] = []
    /// The last `getlastmodified`, cached because members of a collection often have the same value.
    @safe @exclusivity(unchecked) private var modifiedText: [UInt8] = []
    @safe @exclusivity(unchecked) private var modifiedSeconds: Int64 = 0
    /// The last `acl` that was inherited completely, cached because members of a collection often have the same value.
    @safe @exclusivity(unchecked) var lastACL:
        (entries: [AccessControlEntry], isCollection: Bool, text: [UInt8])?
    /// The dead properties of the current resource.
    @safe @exclusivity(unchecked) private var rows: [StoredProperty] = []
    /// The digests of the current resource, if they are requested.
    @safe @exclusivity(unchecked) private var digests: [ContentDigest] = []
    /// The collection of the last resource whose digests were read, open if the store can keep it open; see ``endPiece()``.
    @safe @exclusivity(unchecked) private var lastCollection: (path: ResourcePath, (any OpenCollection)?)?
    /// The memory that the response needs in addition to what it has written; see ``keep(bytes:)``.
    @safe @exclusivity(unchecked) var keptBytes = 0
    /// Held while the properties of a resource that has many, many requested names, or many other results, are in memory; see
    /// ``boundedProperties(of:)`` and ``keep(bytes:)``.
    @safe @exclusivity(unchecked) var slot: ClientSlots.Slot?
    /// The rights that a minimal response leaves out: those of the collection whose members it lists.
    @safe @exclusivity(unchecked) private var omittedRights: ClientRights?
    /// The rights to the current resource, see ``findRights(at:isCollection:)``.
    @safe @exclusivity(unchecked) private(set) var rights: ClientRights?
    /// Whether a slot must be acquired before the response continues.
    @safe @exclusivity(unchecked) var needsSlot = false

    /// - Parameter expansions: the remaining expansions of the enclosing response; nil if there is none.
    init(
        share: Share, context: RequestContext, plan: PropFindPlan,
        expansions: ExpansionBudget? = nil
    ) {
        self.share = share
        self.plan = plan
        self.expansions = expansions ?? (plan.expansions.isEmpty ? nil : ExpansionBudget())
        check = WriteGuard(share: share, context: context, wait: .allowed)
        isMinimal = ResponsePreferences(context.request).isMinimal
        keep(bytes: 0)
    }

    /// Leaves out the rights of members that are those of their collection, if the response is minimal.
    func omitRights(ofMembersOf collection: ResourcePath) {
        guard isMinimal, plan.wantsRights, share.hasRights else { return }
        omittedRights = share.clientRights(at: collection, isCollection: true).inherited
    }

    /// Determines the rights to a resource, which ``writeRights()`` then writes.
    /// - Returns: false if they are left out.
    private func findRights(at path: ResourcePath, isCollection: Bool) -> Bool {
        guard share.hasRights else { return false }
        rights = share.clientRights(at: path, isCollection: isCollection)
        return rights != omittedRights
    }

    /// Whether writing the response for a single resource may access the database or the disk, or wait for a slot.
    func mayBlock(at path: ResourcePath) -> Bool {
        needsSlot || plan.wantsQuota || plan.wantsDigests
            || (plan.wantsDead && (share.hasSessions || share.state.hasRows(at: path)))
            || (plan.wantsLocks && share.state.hasLocks) || !plan.expansions.isEmpty
    }

    /// Whether anything other than dead properties depends on the path of a resource.
    var needsPath: Bool {
        plan.needsPath || plan.wantsDigests || (plan.wantsPrivileges && share.hasRights) || plan.wantsQuota
            || plan.wantsAddMember || (plan.wantsLocks && share.state.hasLocks)
    }

    func properties(at path: ResourcePath, of info: ResourceInfo) throws(StoreError) -> [StoredProperty] {
        guard plan.wantsDead, share.state.hasRows(at: path) else { return [] }
        return try properties(of: [(path, info.identity)])[0]
    }

    /// Returns the dead properties of several resources, with at most one query.
    /// - Parameter limitBytes: see ``ShareState/properties(of:limitBytes:)``.
    func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int = .max
    ) throws(StoreError) -> [[StoredProperty]] {
        do throws(StateError) {
            let properties = try share.state.properties(of: resources, limitBytes: limitBytes)
            guard let access = share.access else { return properties }
            // Collections on the way to what the client may see reveal nothing about themselves.
            return zip(resources, properties).map { resource, properties in
                access.visibility(at: resource.path) == .listed ? properties : []
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether ``boundedProperties(of:)`` must be called for resources below `path`.
    func hasProperties(below path: ResourcePath) -> Bool {
        plan.wantsDead && share.state.hasProperties(below: path) || canHaveExcessiveLocks
    }

    /// Writes the properties of a resource and ends its `response` element, which the caller has begun.
    ///
    /// - Parameter path: the canonical path; if ``needsPath`` is false, the path of the parent collection
    ///   suffices.
    func write(
        _ member: Member, at path: ResourcePath, properties: [StoredProperty]
    ) throws(WebDAVError) {
        if !(properties.isEmpty && rows.isEmpty) { rows = properties }
        if plan.wantsDigests {
            digests =
                member.info.isCollection
                ? [] : properties.digests(of: member.info, at: location(of: path), in: share.resources)
        }
        writer.beginPropStat()
        // An iterator would retain the array for each resource.
        for position in plan.live.indices {
            let property = plan.live[position]
            guard exists(property, of: member, at: path) else {
                miss(position)
                continue
            }
            switch plan.kind {
            case .values:
                if !plan.expansions.isEmpty, let nested = plan.expansions[property.name] {
                    try writeExpanding(property, of: member, at: path, by: nested)
                } else {
                    try write(property, of: member, at: path)
                }
            case .names: writer.emptyProperty(plan.liveNames[position])
            }
        }
        try writeDead(properties)
        endPropStats()
        // While a slow client receives the response, only its unsent part should occupy memory.
        if !rows.isEmpty { rows = [] }
    }

    /// Closes what is open for the resources of one piece, because the client determines when the next one is written.
    func endPiece() { lastCollection = nil }

    /// Returns the location of content, whose collection stays open for the resources after it. A database has no open
    /// collections, and a lookup would query it.
    private func location(of path: ResourcePath) -> ResourceLocation {
        guard !share.hasSessions, let parent = path.parent else { return ResourceLocation(path) }
        if lastCollection?.path != parent {
            let found = try? share.resources.lookupForChange(
                path, last: .notFollowed, reusing: nil, wait: .allowed)
            lastCollection = (parent, found?.path == path ? found?.collection : nil)
        }
        return ResourceLocation(path, in: lastCollection?.1)
    }

    /// Ends the propstat of the existing properties, writes that of the missing ones, and ends the `response`
    /// element.
    func endPropStats() {
        writer.endPropStat(status: .ok)
        if !missing.isEmpty {
            if !isMinimal {
                writer.beginPropStat()
                for element in missing { writer.emptyProperty(element) }
                writer.endPropStat(status: .notFound)
            }
            missing.removeAll(keepingCapacity: true)
        }
        writer.endResponse()
    }

    /// Records a requested live property that the resource does not have.
    func miss(_ position: Int) { miss(plan.liveNames[position]) }

    func miss(_ name: EmptyPropertyElement) {
        if plan.namesMissing { missing.append(name) }
    }

    private func writeDead(_ properties: [StoredProperty]) throws(WebDAVError) {
        if plan.takesAllDead {
            for property in properties where LiveProperty(property.name) == nil {
                switch plan.kind {
                case .values: writer.deadProperty(property.value)
                case .names: writer.emptyProperty(property.name)
                }
            }
            return
        }
        guard !properties.isEmpty else {
            if !plan.deadNames.isEmpty { missing.append(contentsOf: plan.deadNames) }
            return
        }
        var next = 0
        for (position, name) in plan.dead.enumerated() {
            if let found = Self.find(name, in: properties, from: &next) {
                if !plan.expansions.isEmpty, let nested = plan.expansions[name] {
                    try writeExpanding(properties[found].value, by: nested)
                } else {
                    writer.deadProperty(properties[found].value)
                }
            } else {
                missing.append(plan.deadNames[position])
            }
        }
    }

    /// Returns the position of a property. Clients usually request properties in the stored order, so the search begins after
    /// the previous match.
    private static func find(
        _ name: PropertyName, in properties: [StoredProperty], from next: inout Int
    ) -> Int? {
        let count = properties.count
        for step in 0..<count {
            let position = next + step < count ? next + step : next + step - count
            guard properties[position].name == name else { continue }
            next = position + 1
            return position
        }
        return nil
    }

    /// Writes a live property that the resource has.
    func write(
        _ property: LiveProperty, of member: Member, at path: ResourcePath
    ) throws(WebDAVError) {
        let info = member.info
        switch property {
        case .creationdate:
            scratch.removeAll(keepingCapacity: true)
            HTTPDate.appendISO8601(rows.created ?? info.created ?? info.modified, to: &scratch)
            writer.property("creationdate", bytes: scratch)
        case .displayname:
            if let value = rows.displayName {
                writer.deadProperty(value)
            } else {
                writer.property("displayname", escaped: member.name)
            }
        case .getcontentlength: writer.property("getcontentlength", number: info.length)
        case .getcontenttype:
            writer.property(
                "getcontenttype",
                markup: info.isCollection ? "httpd/unix-directory" : MediaType.forName(member.name))
        case .getetag:
            unsafe writer.property("getetag", limit: ResourceInfo.longestEncodedEntityTag) {
                unsafe info.writeEncodedEntityTag(to: $0)
            }
        case .getlastmodified: writer.property("getlastmodified", bytes: text(of: info.modified))
        case .win32LastModifiedTime: writer.property(property.name, escaped: text(of: info.modified))
        case .lastmodified: writer.property("lastmodified", number: info.modified.seconds)
        case .resourcetype:
            writer.property("resourcetype", markup: info.isCollection ? "<D:collection/>" : "")
        case .supportedlock: writer.supportedLock()
        case .supportedQueryGrammarSet: writer.supportedQueryGrammars()
        case .lockdiscovery: writer.lockDiscovery(try locks(at: path))
        case .lockDetails: writer.lockDetails(try locks(at: path))
        case .rights: writeRights()
        case .quotaAvailableBytes, .quotaUsedBytes: try writeQuota(property, at: path)
        case .addMember:
            writer.property(
                "add-member",
                bytes: Array("<D:href>".utf8) + check.context.addMemberHref(of: path)
                    + Array("</D:href>".utf8))
        case .currentUserPrivilegeSet where share.hasAccessPolicy:
            writePrivileges(at: path, isCollection: info.isCollection)
        case .acl: writeACL(at: path, isCollection: info.isCollection)
        case .currentUserPrincipal, .currentUserPrivilegeSet, .supportedPrivilegeSet, .principalCollectionSet,
            .principalURL, .alternateURISet, .groupMembership:
            writeAccess(property)
        case .supportedReportSet:
            writer.property(
                "supported-report-set",
                bytes: SupportedReports.of(
                    info, hasJournal: share.journal != nil, hasTrash: share.configuration.trash != nil))
        case .syncToken: writer.property("sync-token", bytes: Array((syncToken?.text ?? "").utf8))
        case .executable:
            writer.property(
                property.name, escaped: [info.isExecutable ? UInt8(ascii: "T") : UInt8(ascii: "F")])
        case .checksums: writer.deadProperty(LiveProperty.checksumsElement(digests))
        }
    }

    private func text(of modified: Timestamp) -> [UInt8] {
        if modifiedText.isEmpty || modifiedSeconds != modified.seconds {
            modifiedText.removeAll(keepingCapacity: true)
            HTTPDate.appendIMF(modified, to: &modifiedText)
            modifiedSeconds = modified.seconds
        }
        return modifiedText
    }

    private func exists(_ property: LiveProperty, of member: Member, at path: ResourcePath) -> Bool {
        switch property {
        case .addMember: member.info.isCollection && !share.configuration.isReadOnly
        case .currentUserPrincipal: principals.userElement != nil
        case .creationdate, .getlastmodified, .win32LastModifiedTime, .lastmodified: !member.info.isPassage
        case .acl: share.access?.rights(at: path).contains(.manage) == true
        case .checksums: !digests.isEmpty
        case .displayname: !member.name.isEmpty || rows.displayName != nil
        case .rights: findRights(at: path, isCollection: member.info.isCollection)
        case .syncToken:
            member.info.isCollection
                && (plan.kind == .names ? share.journal != nil : syncToken?.root.contains(path) == true)
        default: property.exists(of: member)
        }
    }

    private func locks(at path: ResourcePath) throws(WebDAVError) -> [ActiveLock] {
        guard share.state.hasLocks else { return [] }
        // Collections on the way to what the client may see reveal nothing about themselves.
        guard share.isVisible(path) else { return [] }
        return check.activeLocks(try check.locks(covering: path), at: path)
    }

    private func writeQuota(_ property: LiveProperty, at path: ResourcePath) throws(WebDAVError) {
        let quota = try storing { () throws(StoreError) in try share.resources.quota(at: path) }
        if property == .quotaAvailableBytes {
            writer.property("quota-available-bytes", number: quota.available)
        } else {
            writer.property("quota-used-bytes", number: quota.used)
        }
    }
}

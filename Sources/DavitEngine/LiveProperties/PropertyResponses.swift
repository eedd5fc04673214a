internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Writes the `response` of one resource after another, as a plan asks for it. Belongs to one ``PropFindStream``.
final class PropertyResponses {
    private let share: Share
    private let plan: PropFindPlan
    private let check: WriteGuard
    let writer = MultistatusWriter()
    /// What `sync-token` says; nil where it was not asked for, or there is none.
    @safe @exclusivity(unchecked) var syncToken: String?
    @safe @exclusivity(unchecked) private var missing: [EmptyPropertyElement] = []
    @safe @exclusivity(unchecked) private var scratch: [UInt8] = []
    /// The last `getlastmodified`: the members of a collection often have the same.
    @safe @exclusivity(unchecked) private var modifiedText: [UInt8] = []
    @safe @exclusivity(unchecked) private var modifiedSeconds: Int64 = 0

    init(share: Share, context: RequestContext, plan: PropFindPlan) {
        self.share = share
        self.plan = plan
        check = WriteGuard(share: share, context: context, wait: .allowed)
    }

    /// True if answering for this one resource asks the database, or the disk.
    func mayBlock(at path: ResourcePath) -> Bool {
        plan.wantsQuota || (plan.wantsDead && share.state.hasRows(at: path))
            || (plan.wantsLocks && share.state.hasLocks)
    }

    /// True if more than dead properties depends on where a resource is.
    var needsPath: Bool { plan.wantsQuota || (plan.wantsLocks && share.state.hasLocks) }

    func properties(at path: ResourcePath, of info: ResourceInfo) throws(StoreError) -> [StoredProperty] {
        guard plan.wantsDead else { return [] }
        return try properties(of: [(path, info.identity)])[0]
    }

    /// The dead properties of several resources, in one question to the database or in none.
    func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)]
    ) throws(StoreError) -> [[StoredProperty]] {
        do throws(StateError) { return try share.state.properties(of: resources) } catch {
            throw StoreError(error)
        }
    }

    /// Whether dead properties are asked for, and something below `path` has some.
    func hasProperties(below path: ResourcePath) -> Bool {
        plan.wantsDead && share.state.hasProperties(below: path)
    }

    /// Writes the properties of one resource and ends its response, which the caller has begun.
    ///
    /// - Parameter path: canonical; only looked at if ``needsPath``.
    func write(
        _ member: Member, at path: ResourcePath, properties: [StoredProperty]
    ) throws(WebDAVError) {
        writer.beginPropStat()
        for (place, property) in plan.live.enumerated() {
            guard exists(property, of: member) else {
                if plan.namesMissing { missing.append(plan.liveNames[place]) }
                continue
            }
            switch plan.kind {
            case .values: try write(property, of: member, at: path)
            case .names: writer.emptyProperty(plan.liveNames[place])
            }
        }
        writeDead(properties)
        writer.endPropStat(status: .ok)
        if !missing.isEmpty {
            writer.beginPropStat()
            for element in missing { writer.emptyProperty(element) }
            missing.removeAll(keepingCapacity: true)
            writer.endPropStat(status: .notFound)
        }
        writer.endResponse()
    }

    private func writeDead(_ properties: [StoredProperty]) {
        if plan.takesAllDead {
            for property in properties {
                switch plan.kind {
                case .values: writer.deadProperty(property.value)
                case .names: writer.emptyProperty(property.name)
                }
            }
            return
        }
        guard !properties.isEmpty else { return missing.append(contentsOf: plan.deadNames) }
        for (place, name) in plan.dead.enumerated() {
            if let property = properties.first(where: { $0.name == name }) {
                writer.deadProperty(property.value)
            } else {
                missing.append(plan.deadNames[place])
            }
        }
    }

    /// Writes one live property, which the resource has.
    private func write(
        _ property: LiveProperty, of member: Member, at path: ResourcePath
    ) throws(WebDAVError) {
        let info = member.info
        switch property {
        case .creationdate:
            scratch.removeAll(keepingCapacity: true)
            HTTPDate.appendISO8601(info.created ?? info.modified, to: &scratch)
            writer.property("creationdate", bytes: scratch)
        case .displayname: writer.property("displayname", escaped: member.name)
        case .getcontentlength: writer.property("getcontentlength", number: info.length)
        case .getcontenttype:
            writer.property(
                "getcontenttype",
                markup: info.isCollection ? "httpd/unix-directory" : MediaType.forName(member.name))
        case .getetag:
            scratch.removeAll(keepingCapacity: true)
            info.appendEncodedEntityTag(to: &scratch)
            writer.property("getetag", bytes: scratch)
        case .getlastmodified: writeModified(info.modified)
        case .resourcetype:
            writer.property("resourcetype", markup: info.isCollection ? "<D:collection/>" : "")
        case .supportedlock: writer.supportedLock()
        case .lockdiscovery: try writeLocks(at: path)
        case .quotaAvailableBytes, .quotaUsedBytes: try writeQuota(property, at: path)
        case .supportedReportSet:
            writer.property(
                "supported-report-set",
                markup: info.isCollection && share.journal != nil ? SupportedReports.synchronised : "")
        case .syncToken: writer.property("sync-token", bytes: Array((syncToken ?? "").utf8))
        case .executable:
            writer.property(
                property.name, escaped: [info.isExecutable ? UInt8(ascii: "T") : UInt8(ascii: "F")])
        }
    }

    private func writeModified(_ modified: Timestamp) {
        if modifiedText.isEmpty || modifiedSeconds != modified.seconds {
            modifiedText.removeAll(keepingCapacity: true)
            HTTPDate.appendIMF(modified, to: &modifiedText)
            modifiedSeconds = modified.seconds
        }
        writer.property("getlastmodified", bytes: modifiedText)
    }

    private func exists(_ property: LiveProperty, of member: Member) -> Bool {
        switch property {
        case .getcontentlength, .getetag, .executable: !member.info.isCollection
        case .syncToken:
            member.info.isCollection && (syncToken != nil || plan.kind == .names && share.journal != nil)
        // The root of a share has no name of its own.
        case .displayname: !member.name.isEmpty
        case .creationdate, .getcontenttype, .getlastmodified, .lockdiscovery, .resourcetype, .supportedlock,
            .quotaAvailableBytes, .quotaUsedBytes, .supportedReportSet:
            true
        }
    }

    private func writeLocks(at path: ResourcePath) throws(WebDAVError) {
        guard share.state.hasLocks else { return writer.lockDiscovery([]) }
        writer.lockDiscovery(try check.locks(covering: path).map { ActiveLock($0, in: check.context) })
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

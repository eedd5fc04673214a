internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Writes the `response` of one resource after another, as a plan asks for it. Belongs to one ``PropFindStream``.
final class PropertyResponses {
    private let share: Share
    private let plan: PropFindPlan
    private let check: WriteGuard
    let writer = MultistatusWriter()
    @safe @exclusivity(unchecked) private var missing: [PropertyName] = []
    @safe @exclusivity(unchecked) private var scratch: [UInt8] = []

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

    /// False if nothing that is asked for depends on where a resource is.
    var needsPath: Bool { plan.wantsQuota || plan.wantsDead || (plan.wantsLocks && share.state.hasLocks) }

    func properties(at path: ResourcePath, of info: ResourceInfo) throws(StoreError) -> [StoredProperty] {
        guard plan.wantsDead else { return [] }
        do throws(StateError) {
            return try share.state.properties(at: path, identity: info.identity)
        } catch {
            throw StoreError(error)
        }
    }

    /// The records of all members, in one query, or in none where there are no rows.
    func records(ofMembersOf path: ResourcePath) throws(StoreError) -> [[UInt8]: PropertyRecord] {
        guard plan.wantsDead else { return [:] }
        do throws(StateError) { return try share.state.memberProperties(of: path) } catch {
            throw StoreError(error)
        }
    }

    /// Writes the properties of one resource and ends its response, which the caller has begun.
    ///
    /// - Parameter path: canonical; only looked at if ``needsPath``.
    func write(
        _ member: Member, at path: ResourcePath, properties: [StoredProperty]
    ) throws(WebDAVError) {
        missing.removeAll(keepingCapacity: true)
        writer.beginPropStat()
        for property in plan.live {
            if try !write(property, of: member, at: path) && plan.namesMissing {
                missing.append(property.name)
            }
        }
        writeDead(properties)
        writer.endPropStat(status: .ok)
        writer.beginPropStat()
        for name in missing { writer.emptyProperty(name) }
        writer.endPropStat(status: .notFound)
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
        for name in plan.dead {
            if let property = properties.first(where: { $0.name == name }) {
                writer.deadProperty(property.value)
            } else {
                missing.append(name)
            }
        }
    }

    /// Writes one live property.
    /// - Returns: false if the resource does not have it.
    private func write(
        _ property: LiveProperty, of member: Member, at path: ResourcePath
    ) throws(WebDAVError) -> Bool {
        guard exists(property, of: member) else { return false }
        if plan.kind == .names {
            writer.emptyProperty(property.name)
            return true
        }
        let info = member.info
        scratch.removeAll(keepingCapacity: true)
        switch property {
        case .creationdate:
            writer.property("creationdate", bytes: HTTPDate.iso8601(info.created ?? info.modified))
        case .displayname: writer.property("displayname", escaped: member.name)
        case .getcontentlength: writer.property("getcontentlength", number: info.length)
        case .getcontenttype:
            writer.property(
                "getcontenttype",
                markup: info.isCollection ? "httpd/unix-directory" : MediaType.forName(member.name))
        case .getetag: writer.property("getetag", escaped: info.entityTag.encoded)
        case .getlastmodified:
            HTTPDate.appendIMF(info.modified, to: &scratch)
            writer.property("getlastmodified", bytes: scratch)
        case .resourcetype:
            writer.property("resourcetype", markup: info.isCollection ? "<D:collection/>" : "")
        case .supportedlock: writer.supportedLock()
        case .lockdiscovery: try writeLocks(at: path)
        case .quotaAvailableBytes, .quotaUsedBytes: try writeQuota(property, at: path)
        case .executable:
            writer.property(
                property.name, escaped: [info.isExecutable ? UInt8(ascii: "T") : UInt8(ascii: "F")])
        }
        return true
    }

    private func exists(_ property: LiveProperty, of member: Member) -> Bool {
        switch property {
        case .getcontentlength, .getetag, .executable: !member.info.isCollection
        // The root of a share has no name of its own.
        case .displayname: !member.name.isEmpty
        case .creationdate, .getcontenttype, .getlastmodified, .lockdiscovery, .resourcetype, .supportedlock,
            .quotaAvailableBytes, .quotaUsedBytes:
            true
        }
    }

    private func writeLocks(at path: ResourcePath) throws(WebDAVError) {
        guard share.state.hasLocks else { return writer.lockDiscovery([]) }
        writer.lockDiscovery(try check.locks(covering: path).map { ActiveLock($0, now: check.context.now) })
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

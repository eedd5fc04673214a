internal import DavitAccess
internal import DavitHTTP
internal import DavitWebDAV

extension PropertyResponses {
    /// Writes the privileges that the rights of the client grant to a resource.
    @inline(never)
    func writePrivileges(at path: ResourcePath, isCollection: Bool) {
        let rights = share.access?.rights(at: path) ?? .none
        writer.property(
            "current-user-privilege-set",
            bytes: Privileges.granted(
                by: rights, isCollection: isCollection, isReadOnly: share.configuration.isReadOnly))
    }

    /// Writes a property that depends on the client and on the share, but not on the resource.
    func writeAccess(_ property: LiveProperty) {
        switch property {
        case .currentUserPrincipal:
            writer.property("current-user-principal", bytes: principals.userElement ?? [])
        case .currentUserPrivilegeSet:
            writer.property(
                "current-user-privilege-set",
                markup: share.configuration.isReadOnly ? Privileges.reading : Privileges.writing)
        case .supportedPrivilegeSet:
            writer.property("supported-privilege-set", markup: Privileges.supported)
        case .principalCollectionSet:
            writer.property(
                "principal-collection-set", bytes: Principals.href(principals.collectionHref))
        case .principalURL:
            writer.property("principal-URL", bytes: principals.userHref.map(Principals.href) ?? [])
        case .alternateURISet: writer.property("alternate-URI-set", markup: "")
        case .groupMembership: writer.property("group-membership", markup: "")
        default: return
        }
    }

    /// Writes the response for a principal, or for the collection of principals.
    func writeResponse(href: [UInt8], about resource: Principals.Resource) {
        writer.beginResponse(href: href)
        if resource == .absent {
            writer.responseStatus(.notFound)
            return writer.endResponse()
        }
        writer.beginPropStat()
        for (position, property) in plan.live.enumerated() {
            guard Self.exists(property, of: resource) else {
                miss(position)
                continue
            }
            switch plan.kind {
            case .values: write(property, of: resource)
            case .names: writer.emptyProperty(plan.liveNames[position])
            }
        }
        for name in plan.deadNames { miss(name) }
        endPropStats()
    }

    private static func exists(_ property: LiveProperty, of resource: Principals.Resource) -> Bool {
        switch property {
        case .resourcetype, .currentUserPrincipal, .currentUserPrivilegeSet, .supportedPrivilegeSet,
            .principalCollectionSet, .supportedReportSet:
            true
        // RFC 3744 §4: the properties that every principal has.
        case .displayname, .principalURL, .alternateURISet, .groupMembership: resource == .user
        default: false
        }
    }

    private func write(_ property: LiveProperty, of resource: Principals.Resource) {
        switch property {
        case .resourcetype:
            writer.property(
                "resourcetype", markup: resource == .user ? "<D:principal/>" : "<D:collection/>")
        case .displayname: writer.property("displayname", escaped: Array((principals.name ?? "").utf8))
        case .currentUserPrivilegeSet:
            writer.property("current-user-privilege-set", markup: Privileges.reading)
        case .supportedReportSet: writer.property("supported-report-set", markup: "")
        default: writeAccess(property)
        }
    }
}

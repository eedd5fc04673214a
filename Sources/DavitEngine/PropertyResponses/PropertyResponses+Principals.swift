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

    /// Writes the access control list of a resource. Each entry is protected, because there is no ACL method.
    @inline(never)
    func writeACL(at path: ResourcePath, isCollection: Bool) {
        let entries = share.configuration.access?.entries(at: path) ?? []
        let key = path.equivalenceKey
        let isInherited = !entries.contains { $0.place.equivalenceKey == key }
        if isInherited, let last = lastACL, last.isCollection == isCollection, last.entries == entries {
            return writer.property("acl", bytes: last.text)
        }
        var text: [UInt8] = []
        for entry in entries {
            text += Array("<D:ace><D:principal>".utf8) + principals.element(of: entry.subject)
            text += Array("</D:principal>".utf8)
            switch entry.effect {
            case .grant(let rights):
                text += Array("<D:grant>".utf8)
                text += Privileges.granted(
                    by: rights, isCollection: isCollection, isReadOnly: share.configuration.isReadOnly)
                text += Array("</D:grant>".utf8)
            case .deny:
                text += Array("<D:deny>".utf8) + Privileges.denied + Array("</D:deny>".utf8)
            }
            text += Array("<D:protected/>".utf8)
            if entry.place.equivalenceKey != key {
                text += Array("<D:inherited>".utf8)
                text += Principals.href(check.context.collectionHref(of: entry.place))
                text += Array("</D:inherited>".utf8)
            }
            text += Array("</D:ace>".utf8)
        }
        if isInherited { lastACL = (entries, isCollection, text) }
        writer.property("acl", bytes: text)
    }

    /// Writes what the client may do with the current resource.
    @inline(never)
    func writeRights() {
        writer.property(LiveProperty.rights.name, escaped: Array("\(rights?.number ?? 0)".utf8))
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
            if share.hasAccessPolicy {
                writer.property("supported-privilege-set", bytes: Privileges.supportedWithRights)
            } else {
                writer.property("supported-privilege-set", markup: Privileges.supported)
            }
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

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The properties that a PROPFIND, REPORT or SEARCH requests, prepared once for all resources in its response.
///
/// A class, so that requests can share a plan.
final class PropFindPlan: Sendable {
    enum Kind: Sendable { case values, names }

    /// The approximate memory for a name in addition to its text.
    private static let overheadBytes = 64

    let kind: Kind
    /// The live properties to return, in the requested order.
    let live: [LiveProperty]
    /// The empty elements of ``live``, with the same indices.
    let liveNames: [EmptyPropertyElement]
    /// The dead properties that are requested by name.
    let dead: [PropertyName]
    /// The empty elements of ``dead``, with the same indices.
    let deadNames: [EmptyPropertyElement]
    /// Whether all dead properties are requested, by allprop or propname.
    let takesAllDead: Bool
    /// Whether missing properties are reported with 404, because they are requested by name.
    let namesMissing: Bool
    /// Whether rows must be read, for dead properties or for live properties that may be stored in rows.
    let wantsDead: Bool
    let wantsLocks: Bool
    let wantsQuota: Bool
    let wantsAddMember: Bool
    let wantsRights: Bool
    /// Whether rights, privileges or access control lists are requested, which depend on the path of a resource if there is
    /// an access policy.
    let wantsPrivileges: Bool
    /// Whether the path of each resource must be computed even if no requested property depends on it.
    let needsPath: Bool
    /// For expand-property (RFC 3253 §3.8): the properties whose values are expanded, each with the plan for the
    /// resources to which its value refers; otherwise empty.
    let expansions: [PropertyName: PropFindPlan]
    let wantsSyncToken: Bool
    let wantsDigests: Bool
    /// The approximate size in bytes of the names of dead properties, which are in memory until the response has been sent.
    let nameBytes: Int

    /// - Parameter properties: the requested properties, without duplicates.
    convenience init(expanding properties: [ExpandedProperty]) {
        let nested = properties.filter { !$0.nested.isEmpty }
        self.init(
            .prop(properties.map(\.name)),
            expansions: Dictionary(
                uniqueKeysWithValues: nested.map { ($0.name, PropFindPlan(expanding: $0.nested)) }))
    }

    /// - Parameters:
    ///   - readsDead: whether dead properties are read even if they are not returned.
    ///   - needsPath: see ``needsPath``.
    init(
        _ body: PropFindBody, expansions: [PropertyName: PropFindPlan] = [:], readsDead: Bool = false,
        needsPath: Bool = false
    ) {
        self.expansions = expansions
        self.needsPath = needsPath
        switch body {
        case .propname:
            kind = .names
            (live, dead) = (LiveProperty.allCases, [])
            takesAllDead = true
            namesMissing = false
        case .allprop(let include):
            kind = .values
            let extra = Self.split(include).live.filter { !$0.isInAllprop }
            (live, dead) = (LiveProperty.allCases.filter(\.isInAllprop) + extra, [])
            takesAllDead = true
            namesMissing = false
        case .prop(let names):
            kind = .values
            (live, dead) = Self.split(names)
            takesAllDead = false
            namesMissing = true
        }
        liveNames = live.map { EmptyPropertyElement($0.name) }
        deadNames = dead.map { EmptyPropertyElement($0) }
        nameBytes =
            dead.reduce(0) { $0 + Self.overheadBytes + $1.namespace.utf8.count + $1.local.utf8.count }
            + expansions.values.reduce(0) { $0 + $1.nameBytes }
        wantsDead = takesAllDead || !dead.isEmpty || readsDead || live.contains(where: \.mayHaveRow)
        wantsLocks = live.contains(.lockdiscovery) || live.contains(.lockDetails)
        wantsAddMember = kind == .values && live.contains(.addMember)
        wantsRights = kind == .values && live.contains(.rights)
        wantsPrivileges = wantsRights || live.contains(.currentUserPrivilegeSet) || live.contains(.acl)
        wantsQuota = live.contains(.quotaAvailableBytes) || live.contains(.quotaUsedBytes)
        wantsSyncToken = kind == .values && live.contains(.syncToken)
        wantsDigests = live.contains(.checksums)
    }

    /// Splits names into live and dead properties, without duplicates.
    private static func split(_ names: [PropertyName]) -> (live: [LiveProperty], dead: [PropertyName]) {
        var live: [LiveProperty] = []
        var dead: [PropertyName] = []
        var seen: Set<PropertyName> = []
        for name in names where seen.insert(name).inserted {
            if let property = LiveProperty(name) { live.append(property) } else { dead.append(name) }
        }
        return (live, dead)
    }
}

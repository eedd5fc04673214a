internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What a PROPFIND asks for, worked out once for all its responses. An object, because many requests share one.
final class PropFindPlan: Sendable {
    enum Kind: Sendable { case values, names }

    let kind: Kind
    /// The live properties to answer, in the order asked.
    let live: [LiveProperty]
    /// Those of ``live`` without their values, place by place.
    let liveNames: [EmptyPropertyElement]
    /// Dead properties asked for by name.
    let dead: [PropertyName]
    /// Those of ``dead`` without their values, place by place.
    let deadNames: [EmptyPropertyElement]
    /// allprop and propname: all dead properties, whatever their names.
    let takesAllDead: Bool
    /// Names the server computes nothing for and nobody set get a 404: only where they were asked for by name.
    let namesMissing: Bool
    /// Something is asked for that can have a row: dead properties, or live ones of which not all is in the file.
    let wantsDead: Bool
    let wantsLocks: Bool
    let wantsQuota: Bool
    let wantsAddMember: Bool
    /// Where a resource is counts also for what is not told about it.
    let needsPath: Bool
    /// What is asked of the resources that the values of these properties name (RFC 3253 §3.8); else empty.
    let expansions: [PropertyName: PropFindPlan]
    let wantsSyncToken: Bool
    let wantsDigests: Bool

    /// - Parameter properties: none is asked for twice.
    convenience init(expanding properties: [ExpandedProperty]) {
        let nested = properties.filter { !$0.nested.isEmpty }
        self.init(
            .prop(properties.map(\.name)),
            expansions: Dictionary(
                uniqueKeysWithValues: nested.map { ($0.name, PropFindPlan(expanding: $0.nested)) }))
    }

    /// - Parameters:
    ///   - readsDead: dead properties are looked at, whether they are told or not.
    ///   - needsPath: as ``needsPath``.
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
        wantsDead = takesAllDead || !dead.isEmpty || readsDead || live.contains(where: \.mayHaveRow)
        wantsLocks = live.contains(.lockdiscovery) || live.contains(.lockDetails)
        wantsAddMember = kind == .values && live.contains(.addMember)
        wantsQuota = live.contains(.quotaAvailableBytes) || live.contains(.quotaUsedBytes)
        wantsSyncToken = kind == .values && live.contains(.syncToken)
        wantsDigests = live.contains(.checksums)
    }

    /// Each name once.
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

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
    let wantsDead: Bool
    let wantsLocks: Bool
    let wantsQuota: Bool
    let wantsSyncToken: Bool

    init(_ body: PropFindBody) {
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
        wantsDead = takesAllDead || !dead.isEmpty
        wantsLocks = live.contains(.lockdiscovery)
        wantsQuota = live.contains(.quotaAvailableBytes) || live.contains(.quotaUsedBytes)
        wantsSyncToken = kind == .values && live.contains(.syncToken)
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

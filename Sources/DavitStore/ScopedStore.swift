package import DavitAccess
package import DavitHTTP

/// Wraps another store and shows what one principal may see and read. A lookup reports hidden names as
/// ``Lookup/State/unservable``, so that they are treated like names that are not served.
///
/// Whether a change is permitted is not decided here: lookups return every resource to which the principal has any right.
package final class ScopedStore: ForwardingStore {
    package let base: any ResourceStore
    private let access: any AccessView

    package init(_ base: any ResourceStore, access: any AccessView) {
        self.base = base
        self.access = access
    }

    /// Runs `body` again if the rules have changed while it was waiting, because it has decided with the old ones.
    @inline(__always)
    private func deciding<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        for _ in 1..<Self.attemptLimit {
            do throws(StoreError) { return try body() } catch {
                guard error == .rightsChanged else { throw error }
            }
        }
        return try body()
    }

    private static var attemptLimit: Int { 4 }

    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        try deciding { () throws(StoreError) in try visible(path, last, wait) }
    }

    private func visible(
        _ path: ResourcePath, _ last: SymlinkMode, _ wait: Wait
    ) throws(StoreError) -> Lookup {
        let visibility = access.visibility(at: path)
        if visibility == .hidden { return Lookup(path: path, state: .unservable) }
        let lookup = judged(try base.lookup(path, last: last, wait: wait), as: path)
        if case .mapped(var info) = lookup.state,
            visibility == .passage || (lookup.path != path && access.visibility(at: lookup.path) == .passage)
        {
            info.becomePassage()
            return Lookup(path: lookup.path, state: .mapped(info), collection: lookup.collection)
        }
        return lookup
    }

    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        try deciding { () throws(StoreError) in
            if isHidden(path) { return Lookup(path: path, state: .unservable) }
            return judged(
                try base.lookupForChange(path, last: last, reusing: other, wait: wait), as: path)
        }
    }

    /// Both the requested name and the resource to which links lead must be visible.
    private func judged(_ lookup: Lookup, as path: ResourcePath) -> Lookup {
        lookup.path == path || !isHidden(lookup.path) ? lookup : Lookup(path: path, state: .unservable)
    }

    private func isHidden(_ path: ResourcePath) -> Bool { access.visibility(at: path) == .hidden }

    package func locationOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> Lookup
    {
        if isHidden(path) { throw .wouldBlock }
        return try base.locationOfFreeName(path, reusing: other)
    }

    /// - Throws: `notFound` if the resource is hidden; `forbidden` if the principal may list but not read it.
    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        try deciding { () throws(StoreError) in
            let rights = access.rights(at: path)
            if !rights.contains(.list), isHidden(path) { throw .notFound }
            let resource = try base.open(path, wait: wait)
            let isLink = resource.canonicalPath.map { $0 != path } ?? false
            return rights.contains(.view) && !isLink ? resource : try judged(resource, as: path)
        }
    }

    package func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        try deciding { () throws(StoreError) in
            if isHidden(path) { throw .notFound }
            return try judged(base.openMember(path), as: path)
        }
    }

    private func judged(_ resource: OpenResource, as path: ResourcePath) throws(StoreError) -> OpenResource {
        let isContent = resource.content != nil
        try check(path, isContent)
        if let canonical = resource.canonicalPath, canonical != path { try check(canonical, isContent) }
        guard !isContent, access.visibility(at: resource.canonicalPath ?? path) == .passage else {
            return resource
        }
        var info = resource.info
        info.becomePassage()
        return OpenResource(collection: info, canonicalPath: resource.canonicalPath)
    }

    private func check(_ path: ResourcePath, _ isContent: Bool) throws(StoreError) {
        guard isContent else {
            if isHidden(path) { throw .notFound }
            return
        }
        switch access.decide(.read, at: path) {
        case .allow: return
        case .forbid: throw .forbidden
        case .hide: throw .notFound
        }
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        try deciding { () throws(StoreError) in
            if isHidden(path) { throw .notFound }
            return ScopedCursor(try base.members(of: path), access.members(of: path), access)
        }
    }

    /// Leaves hidden members out of the copy, and reports content that may not be read as a failure.
    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?, heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        // The wrapped store adds its own rules only if there is no filter.
        let rules = filter ?? (base as? FilteredStore)?.rules
        return try base.stageCopy(
            of: source, for: destination, includesMembers: includesMembers,
            filter: ScopedFilter(rules: rules, access: access), heightLimit: heightLimit)
    }
}

private struct ScopedFilter: CopyFilter {
    let rules: (any CopyFilter)?
    let access: any AccessView

    func omits(_ name: [UInt8], at path: @autoclosure () -> ResourcePath?) -> Bool {
        guard let path = path() else { return true }
        return rules?.omits(name, at: path) == true || access.visibility(at: path) == .hidden
    }

    func omits(target: ResourcePath) -> Bool {
        rules?.omits(target: target) == true || access.visibility(at: target) == .hidden
    }

    func omits(content name: [UInt8]) -> Bool { rules?.omits(content: name) == true }

    func admission(at path: @autoclosure () -> ResourcePath?) -> CopyAdmission {
        guard let path = path() else { return .omit }
        switch access.decide(.read, at: path) {
        case .allow: return .copy
        case .forbid: return .fail
        case .hide: return .omit
        }
    }
}

/// Iterates over the members that the principal may list.
private final class ScopedCursor: MemberCursor {
    private let cursor: any MemberCursor
    private let rights: MemberRights
    private let access: any AccessView
    /// Whether all members are listed.
    private let listsAll: Bool

    init(_ cursor: any MemberCursor, _ rights: MemberRights, _ access: any AccessView) {
        self.cursor = cursor
        self.rights = rights
        self.access = access
        listsAll = rights.uniformRights?.contains(.list) == true
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        while try cursor.next(&member) {
            if listsAll, member.canonicalPath == nil { return true }
            switch visibility(of: member) {
            case .listed: return true
            case .passage where member.info.isCollection:
                member.info.becomePassage()
                return true
            case .passage, .hidden: continue
            }
        }
        return false
    }

    private func visibility(of member: Member) -> Visibility {
        let own: Visibility =
            listsAll ? .listed : rights.visibility(of: member.name, isCollection: member.info.isCollection)
        guard let target = member.canonicalPath, own != .hidden else { return own }
        // Both the name and the resource to which the link leads must be visible.
        let visibility = access.visibility(at: target)
        return visibility == .listed ? own : visibility
    }

    var linksLeftOut: [[UInt8]] {
        cursor.linksLeftOut.filter {
            listsAll || rights.visibility(of: $0, isCollection: false) != .hidden
        }
    }
}

package import DavitHTTP

/// Wraps another store and serves only the names that the rules allow. A lookup reports excluded names as
/// ``Lookup/State/unservable``, like device files, so that request methods need not check names themselves.
///
/// Calls with a path that a lookup has already admitted are forwarded without checks. The extension of a new
/// name is not checked here, because only the change knows whether it creates content or a collection.
package final class FilteredStore: ForwardingStore {
    package let base: any ResourceStore
    let rules: ShareRules

    package init(_ base: any ResourceStore, rules: ShareRules) {
        self.base = base
        self.rules = rules
    }

    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        if rules.refuses(in: path) { return Lookup(path: path, state: .unservable) }
        return judged(try base.lookup(path, last: last, wait: wait), as: path, last)
    }

    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup {
        if rules.refuses(in: path) { return Lookup(path: path, state: .unservable) }
        return judged(
            try base.lookupForChange(path, last: last, reusing: other, wait: wait), as: path, last)
    }

    /// - Parameter last: `notFollowed` skips the check of the extension: for a link, the check depends on the
    ///   kind of the target, and a lookup of the same change that follows the link makes it.
    private func judged(_ lookup: Lookup, as path: ResourcePath, _ last: SymlinkMode) -> Lookup {
        let isContent = last == .followed && lookup.info?.isCollection == false
        return serves(path, canonical: lookup.path, isContent: isContent)
            ? lookup : Lookup(path: path, state: .unservable)
    }

    /// - Parameter path: must be allowed, except possibly for its extension.
    private func serves(_ path: ResourcePath, canonical: ResourcePath, isContent: Bool) -> Bool {
        if isContent, rules.refuses(content: path.name) { return false }
        if path == canonical { return true }
        return !rules.refuses(in: canonical) && !(isContent && rules.refuses(content: canonical.name))
    }

    package func locationOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> Lookup
    {
        if rules.refuses(in: path) { throw .wouldBlock }
        return try base.locationOfFreeName(path, reusing: other)
    }

    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        if rules.refuses(in: path) { throw .notFound }
        return try judged(base.open(path, wait: wait), as: path)
    }

    package func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        if rules.refuses(in: path) { throw .notFound }
        return try judged(base.openMember(path), as: path)
    }

    private func judged(_ resource: OpenResource, as path: ResourcePath) throws(StoreError) -> OpenResource {
        let canonical = resource.canonicalPath ?? path
        guard serves(path, canonical: canonical, isContent: resource.content != nil) else { throw .notFound }
        return resource
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        FilteredCursor(try base.members(of: path), of: path, rules)
    }

    /// Omits from the copy all names that are not served.
    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?,
        heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try base.stageCopy(
            of: source, for: destination, includesMembers: includesMembers, filter: filter ?? rules,
            heightLimit: heightLimit)
    }
}

/// Iterates over the members that are served and listed.
private final class FilteredCursor: MemberCursor {
    private let cursor: any MemberCursor
    /// The path of the collection.
    private let path: ResourcePath
    private let rules: ShareRules

    init(_ cursor: any MemberCursor, of path: ResourcePath, _ rules: ShareRules) {
        self.cursor = cursor
        self.path = path
        self.rules = rules
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        while try cursor.next(&member) {
            if isListed(member) { return true }
        }
        return false
    }

    var linksLeftOut: [[UInt8]] {
        cursor.linksLeftOut.filter { !rules.refuses($0, at: path.appending($0)) && rules.lists($0) }
    }

    private func isListed(_ member: Member) -> Bool {
        let isContent = !member.info.isCollection
        if rules.refuses(member.name, at: path.appending(member.name)) || !rules.lists(member.name) {
            return false
        }
        if isContent, rules.refuses(content: member.name) { return false }
        guard let target = member.canonicalPath else { return true }
        return !rules.refuses(in: target) && !(isContent && rules.refuses(content: target.name))
    }
}

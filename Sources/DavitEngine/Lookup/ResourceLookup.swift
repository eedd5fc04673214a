internal import DavitAccess
internal import DavitHTTP
internal import DavitStore

/// Looks up the resources of requests by path.
final class ResourceLookup: Sendable {
    private let resources: any ResourceStore

    private let access: (any AccessView)?

    /// - Parameter access: the rights of the client to whom `resources` belong; nil without an access policy.
    init(_ resources: any ResourceStore, access: (any AccessView)? = nil) {
        self.resources = resources
        self.access = access
    }

    /// Looks up a path for reading. Circular links are treated like links that lead outside the share, and content that
    /// the client may not list like content that does not exist: the result is `unservable`.
    func resource(at path: ResourcePath, wait: Wait) throws(StoreError) -> Lookup {
        let lookup = try serving(path) { () throws(StoreError) in
            try resources.lookup(path, last: .followed, wait: wait)
        }
        guard let access, lookup.info?.isCollection == false else { return lookup }
        let isListed =
            access.visibility(at: lookup.path) == .listed
            && (lookup.path == path || access.visibility(at: path) == .listed)
        return isListed ? lookup : Lookup(path: path, state: .unservable)
    }

    private func serving(
        _ path: ResourcePath, _ lookup: () throws(StoreError) -> Lookup
    ) throws(StoreError) -> Lookup {
        do throws(StoreError) {
            return try lookup()
        } catch .loop {
            return Lookup(path: path, state: .unservable)
        } catch {
            throw error
        }
    }

    /// Looks up a path, both with and without following a symbolic link at its end. Performs a second lookup only
    /// if the first one returns a different path.
    ///
    /// - Parameters:
    ///   - last: with `followed`, the first result is the resource to which the link leads.
    ///   - other: the result of an earlier lookup for the same change; not used with ``LookupMode/first(_:)``.
    /// - Returns: the resource with that name, which can be a link, and the resource to which the link leads; nil if
    ///   both have the same path.
    func resources(
        at path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, _ mode: LookupMode
    ) throws(StoreError) -> (named: Lookup, linked: Lookup?) {
        let resolved = try serving(path) { () throws(StoreError) in
            switch mode {
            case .first(let wait): try resources.lookup(path, last: .followed, wait: wait)
            case .nonBlockingAssumingFreeNames: try resources.locationOfFreeName(path, reusing: other)
            case .nonBlocking, .mayWait:
                try resources.lookupForChange(path, last: .followed, reusing: other, wait: mode.wait)
            }
        }
        guard last == .notFollowed, resolved.path != path else { return (resolved, nil) }
        let named = try resources.lookup(path, last: .notFollowed, wait: mode.wait)
        return (named, named.path == resolved.path ? nil : resolved)
    }

    /// Looks up a path to which a Resource-Tag of `If` or an href to expand refers. A path that is invalid or
    /// inaccessible is treated like an unmapped URL (RFC 4918 §10.4.4).
    func taggedResource(at path: ResourcePath, wait: Wait) throws(StoreError) -> Lookup {
        do throws(StoreError) {
            return try resource(at: path, wait: wait)
        } catch {
            switch error {
            case .forbidden, .invalidName, .nameTooLong: return Lookup(path: path, state: .unservable)
            default: throw error
            }
        }
    }

    /// Returns an unmapped destination with the requested spelling, if the destination is only another spelling of the
    /// target's name: no other resource has that name, and the target must not replace itself.
    ///
    /// - Parameter path: the requested destination.
    func ownName(
        _ destination: Lookup?, of target: Lookup, as path: ResourcePath, _ wait: Wait
    ) throws(StoreError) -> Lookup? {
        guard let there = destination?.info, let here = target.info, there.identity == here.identity,
            let stored = destination?.path, let parent = target.path.parent, stored.parent == parent,
            path.name != target.path.name
        else { return nil }
        if stored != target.path {
            // The two paths may be hard links or spellings of one name; only the directory entries distinguish them.
            if wait == .never { throw .wouldBlock }
            guard try resources.refersToSameEntry(target.path, stored) else { return nil }
        }
        return parent.appending(path.name).map {
            Lookup(path: $0, state: .unmapped, collection: target.collection)
        }
    }
}

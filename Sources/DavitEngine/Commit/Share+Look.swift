internal import DavitHTTP
internal import DavitServer
internal import DavitStore

extension Share {
    /// What stands at any path. Links that lead round and round are as unservable as those that lead outside.
    func look(at path: ResourcePath, wait: Wait) throws(StoreError) -> Lookup {
        try serving(path) { () throws(StoreError) in
            try resources.lookup(path, last: .followed, wait: wait)
        }
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

    /// What stands at any path, and what is to be seen there; one look unless there is a link on the way.
    ///
    /// - Parameter other: with a look that commits, what was looked up before for the same change.
    func look(
        at path: ResourcePath, last: LastSegment, beside other: Lookup?, _ look: Look
    ) throws(StoreError) -> (itself: Lookup, seen: Lookup) {
        let seen = try serving(path) { () throws(StoreError) in
            switch look {
            case .first(let wait): try resources.lookup(path, last: .followed, wait: wait)
            case .atOnceOverFreeNames: try resources.placeOfFreeName(path, beside: other)
            case .atOnce, .mayWait:
                try resources.lookupForChange(path, last: .followed, beside: other, wait: look.wait)
            }
        }
        guard last == .itself, seen.path != path else { return (seen, seen) }
        return (try resources.lookup(path, last: .itself, wait: look.wait), seen)
    }

    /// What stands at a path that `If` names: where nothing can, nothing does (RFC 4918 §10.4.4).
    func lookTagged(at path: ResourcePath, wait: Wait) throws(StoreError) -> Lookup {
        do throws(StoreError) {
            return try look(at: path, wait: wait)
        } catch {
            switch error {
            case .forbidden, .invalidName, .nameTooLong: return Lookup(path: path, state: .unservable)
            default: throw error
            }
        }
    }

    /// Runs on another thread what no answer depends on. Where too much waits, it is left to the sweep of
    /// leftovers.
    func tidy(_ body: @escaping @Sendable () -> Void) async { _ = await work.run(body) }

    /// The same for whole trees.
    func tidyTree(for context: RequestContext, _ body: @escaping @Sendable () -> Void) async {
        _ = await work.runLong(for: context.request.client, .cleansUp, body)
    }

    /// The place of a target under another spelling of its own name, if that is what a destination is: the name is
    /// taken by nothing else, and what stands there must not be replaced by itself.
    ///
    /// - Parameter path: the destination as it was asked for.
    func ownName(
        _ destination: Lookup?, of target: Lookup, as path: ResourcePath, _ wait: Wait
    ) throws(StoreError) -> Lookup? {
        guard let there = destination?.info, let here = target.info, there.identity == here.identity,
            let stored = destination?.path, let parent = target.path.parent, stored.parent == parent,
            path.name != target.path.name
        else { return nil }
        if stored != target.path {
            // Two names of one file, or one name: only the collection knows.
            if wait == .never { throw .wouldBlock }
            guard try resources.isOneName(target.path, stored) else { return nil }
        }
        return parent.appending(path.name).map {
            Lookup(path: $0, state: .unmapped, collection: target.collection)
        }
    }
}

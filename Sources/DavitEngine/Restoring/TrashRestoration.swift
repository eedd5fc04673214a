package import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// Restores trash entries to their original paths.
package struct TrashRestoration: Sendable {
    let share: Share

    package init(share: Share) { self.share = share }

    /// Returns the entry with an id.
    /// - Throws: 404 if there is none.
    func entry(_ id: String) async throws(WebDAVError) -> TrashEntry {
        let share = share
        return try await share.work.run { () throws(WebDAVError) in
            do throws(StateError) {
                if let entry = try share.state.trashEntry(id), share.isVisible(entry) { return entry }
            } catch {
                throw WebDAVError(state: error)
            }
            throw WebDAVError(.notFound)
        }
    }

    /// Restores an entry to its original path or, with ``RestoreConflictPolicy/rename``, to a numbered name in
    /// the same collection. Creates missing parent collections.
    func restore(
        _ entry: TrashEntry, ifTaken choice: RestoreConflictPolicy, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        if share.urls.isHidden(entry.path) { throw WebDAVError(.conflict) }
        for path in try await share.work.run({ () throws(WebDAVError) in
            try self.missingCollections(above: entry.path)
        }) {
            do throws(WebDAVError) {
                let member = context.member(path)
                _ = try await ChangeCommitter(MkColMethod(share: share), member).run()
            } catch {
                // Another request has created the collection in the meantime.
                guard error.status == .methodNotAllowed else { throw error }
            }
        }
        for path in Self.names(for: entry, choice) {
            do throws(WebDAVError) {
                let method = RestoreMethod(
                    share: share, entry: entry, path: path, replaces: choice == .replace)
                return try await ChangeCommitter(method, context).run()
            } catch {
                guard error.lostRace else { throw error }
            }
        }
        throw WebDAVError(.preconditionFailed)
    }

    /// Restores an entry outside of an HTTP request, on a thread that may block. Hooks are notified but
    /// cannot refuse.
    /// - Returns: The path of the restored resource.
    /// - Throws: 503 if another change holds a path lock on an affected path; 412 if all candidate names are in
    ///   use; any other error of the change. The reason is a clause that completes a message of the command
    ///   line.
    package func restoreHere(_ entry: TrashEntry) throws(HTTPError) -> ResourcePath {
        do throws(WebDAVError) {
            let root = try RequestContext(HTTPRequest(), now: share.now())
            for path in try missingCollections(above: entry.path) {
                do throws(WebDAVError) {
                    _ = try ChangeCommitter(MkColMethod(share: share), root.member(path)).runBlocking()
                } catch {
                    guard error.status == .methodNotAllowed else { throw error }
                }
            }
            for path in Self.names(for: entry, .rename) {
                do throws(WebDAVError) {
                    let method = RestoreMethod(share: share, entry: entry, path: path, replaces: false)
                    let change = try ChangeCommitter(method, root).runBlocking().change
                    return change.destination?.path ?? path
                } catch {
                    guard error.lostRace else { throw error }
                }
            }
        } catch {
            throw HTTPError(error.status, "the change failed with status \(error.status.code)")
        }
        throw HTTPError(.preconditionFailed, "all alternative names are already in use")
    }

    /// Returns the missing parent collections, from the top down.
    private func missingCollections(above path: ResourcePath) throws(WebDAVError) -> [ResourcePath] {
        var missing: [ResourcePath] = []
        var next = path.parent
        while let collection = next, !collection.isRoot {
            let lookup = try storing { () throws(StoreError) in
                try share.lookup.resource(at: collection, wait: .allowed)
            }
            switch lookup.state {
            case .unmapped, .missingAncestor: missing.append(collection)
            case .unservable: throw WebDAVError(.forbidden)
            case .mapped(let info):
                // A file has this name.
                if !info.isCollection { throw WebDAVError(.conflict) }
                return missing.reversed()
            }
            next = collection.parent
        }
        return missing.reversed()
    }

    /// Returns the paths to try, in this order.
    private static func names(for entry: TrashEntry, _ choice: RestoreConflictPolicy) -> [ResourcePath] {
        guard choice == .rename, let parent = entry.path.parent else { return [entry.path] }
        let names = MemberNames(Array(entry.path.name), isCollection: entry.isCollection)
        return names.names.compactMap(parent.appending)
    }
}

package import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// What becomes of something restored whose name is taken.
enum TakenName: String, Sendable {
    /// It gets a number: `name (1).txt`.
    case rename
    /// What has the name goes into the trash.
    case replace
    /// It stays where it is: 412.
    case refuse
}

extension Share {
    /// The entry of an id.
    /// - Throws: 404.
    func trashEntry(_ id: String) async throws(WebDAVError) -> TrashEntry {
        let state = state
        return try await offload { () throws(WebDAVError) in
            do throws(StateError) {
                if let entry = try state.trashEntry(id) { return entry }
            } catch {
                throw WebDAVError(state: error)
            }
            throw WebDAVError(.notFound)
        }
    }

    /// The entries with higher numbers, the oldest first. May block.
    package func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try state.trash(after: number, limit: limit)
    }

    /// The entry of an id; nil if there is none. May block.
    package func trash(_ id: String) throws(StateError) -> TrashEntry? { try state.trashEntry(id) }

    /// Restores something to where it was. Collections above it that are missing are made again, empty.
    func restore(
        _ entry: TrashEntry, ifTaken choice: TakenName, _ context: RequestContext
    ) async throws(WebDAVError) -> HTTPResponse {
        if hides(entry.path) { throw WebDAVError(.conflict) }
        for path in try await offload({ () throws(WebDAVError) in
            try self.missingCollections(above: entry.path)
        }) {
            do throws(WebDAVError) {
                let member = context.member(path)
                _ = try await change(MkColMethod(share: self), context: member)
            } catch {
                // Somebody else has made it meanwhile.
                guard error.status == .methodNotAllowed else { throw error }
            }
        }
        for path in Self.names(for: entry, choice) {
            do throws(WebDAVError) {
                let method = RestoreMethod(
                    share: self, entry: entry, path: path, replaces: choice == .replace)
                return try await change(method, context: context)
            } catch {
                guard error.isOvertaken else { throw error }
            }
        }
        throw WebDAVError(.preconditionFailed)
    }

    /// The same for who asks without HTTP, on a thread that may block. Hooks are told and not asked.
    /// - Returns: where it is.
    /// - Throws: 503 if somebody else is at work there.
    package func restoreHere(_ entry: TrashEntry) throws(HTTPError) -> ResourcePath {
        do throws(WebDAVError) {
            let root = try RequestContext(HTTPRequest(), now: now())
            for path in try missingCollections(above: entry.path) {
                do throws(WebDAVError) {
                    _ = try changeHere(MkColMethod(share: self), root.member(path))
                } catch {
                    guard error.status == .methodNotAllowed else { throw error }
                }
            }
            for path in Self.names(for: entry, .rename) {
                do throws(WebDAVError) {
                    let method = RestoreMethod(share: self, entry: entry, path: path, replaces: false)
                    let (_, scene) = try changeHere(method, root)
                    return scene.destination?.path ?? path
                } catch {
                    guard error.isOvertaken else { throw error }
                }
            }
        } catch {
            throw HTTPError(error.status, "it cannot be restored")
        }
        throw HTTPError(.preconditionFailed, "its name is taken")
    }

    /// From the top down.
    private func missingCollections(above path: ResourcePath) throws(WebDAVError) -> [ResourcePath] {
        var missing: [ResourcePath] = []
        var next = path.parent
        while let collection = next, !collection.isRoot {
            let lookup = try storing { () throws(StoreError) in try look(at: collection, wait: .allowed) }
            switch lookup.state {
            case .unmapped, .missingAncestor: missing.append(collection)
            case .unservable: throw WebDAVError(.forbidden)
            case .mapped(let info):
                // Content has taken the name.
                if !info.isCollection { throw WebDAVError(.conflict) }
                return missing.reversed()
            }
            next = collection.parent
        }
        return missing.reversed()
    }

    /// The names to try.
    private static func names(for entry: TrashEntry, _ choice: TakenName) -> [ResourcePath] {
        guard choice == .rename, let parent = entry.path.parent else { return [entry.path] }
        let names = MemberNames(Array(entry.path.name), isCollection: entry.isCollection)
        return names.names.compactMap(parent.appending)
    }

    /// As ``change(_:context:)`` on a thread that may block, where nobody else is at work.
    private func changeHere<Method: ChangeMethod>(
        _ method: Method, _ context: RequestContext
    ) throws(WebDAVError) -> (Method.Outcome, Scene) where Method.Prepared == Void {
        var scene = expectedScene(for: method, context: context)
        for _ in 0..<8 {
            let claimed = scene
            let result = try sections.withSectionIfFree(claims(of: method, on: claimed)) {
                () throws(WebDAVError) -> (outcome: Method.Outcome?, scene: Scene)? in
                let height = try measureHeightNow(for: method, on: claimed)
                let context = claimed.context.at(now())
                state.expireLocks(now: context.now)
                // Nobody was asked, so that nobody has been asked about something else.
                return try commitNow(
                    method, (), from: claimed, claimed: claimed, context, height: height, isLast: true,
                    look: .mayWait)
            }
            guard let result else { throw .busy }
            if let outcome = result.outcome {
                tell(action(of: method, on: result.scene), HTTPResponse(.created))
                return (outcome, result.scene)
            }
            scene = result.scene
        }
        throw .busy
    }
}

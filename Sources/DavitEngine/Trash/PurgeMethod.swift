internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Permanently removes an entry from the trash.
struct PurgeMethod: ChangeMethod {
    let share: Share
    let entry: TrashEntry

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        guard scene.target.info?.isCollection == true else { throw WebDAVError(.notFound) }
        return []
    }

    var trashEntry: TrashEntry? { entry }
    func actionKind(on scene: Scene) -> ShareAction.Kind? { .purge }

    func claims(on scene: Scene) -> [Claim] { Share.claims(on: entry) }

    func commit(
        _ scene: Scene, _ prepared: Void, guard: WriteGuard
    ) throws(WebDAVError) -> (any DetachedTree)? {
        let current: TrashEntry?
        do throws(StateError) { current = try share.state.trashEntry(entry.id) } catch {
            throw WebDAVError(state: error)
        }
        guard let current else { throw WebDAVError(.notFound) }
        return try storing { () throws(StoreError) in try share.takeOut(current) }
    }

    func finish(
        _ outcome: (any DetachedTree)?, on scene: Scene
    ) async throws(WebDAVError) -> HTTPResponse {
        if let outcome { await share.tidyTree(for: scene.context) { _ = outcome.destroy() } }
        return HTTPResponse(.noContent)
    }
}

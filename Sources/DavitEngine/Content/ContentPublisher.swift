internal import DavitHTTP
internal import DavitStore

/// Publishes received content under its name.
final class ContentPublisher: Sendable {
    private let state: any ShareState
    private let rows: ResourceRows
    private let trash: TrashCan
    private let languages: ContentLanguages

    init(_ state: any ShareState, _ rows: ResourceRows, _ trash: TrashCan, _ languages: ContentLanguages) {
        self.state = state
        self.rows = rows
        self.trash = trash
        self.languages = languages
    }

    /// Publishes sealed content at its target. Moves the replaced content to the trash, if the trash accepts it.
    ///
    /// The resource retains its properties; the version in the trash gets a copy of them.
    /// - Parameters:
    ///   - old: The resource at the target; nil if there is none.
    ///   - new: Describes the sealed content.
    ///   - language: The change of `getcontentlanguage`; nil if it is unchanged.
    /// - Returns: the trash entry of the replaced content; nil if it was not kept.
    func publish(
        _ staged: any StagedContent, at target: Lookup, over old: ResourceInfo?, as new: ResourceInfo,
        language: LanguageChange?, _ context: RequestContext
    ) throws(StoreError) -> TrashEntry? {
        let path = target.path
        let languageUpdate = language.map { LanguageUpdate($0, at: path, over: old, as: new, in: state) }
        let rowsBefore = binding(path, from: old, to: new) + (languageUpdate?.rowsBefore ?? [])
        guard let old,
            let reservation = try trash.reservation(old, at: target.location, because: .overwritten, context)
        else {
            if !rowsBefore.isEmpty { try self.rows.commit(rowsBefore) }
            try languages.publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(isReplacing: old != nil)
            }
            if let old { trash.versions.follow(path, from: old.entityTag, to: new.entityTag) }
            return nil
        }
        let entry = reservation.entry
        var rows: [StateChange] = [.putTrash(entry)]
        if state.hasRows(at: path) { rows += try properties(of: entry) }
        try self.rows.commit(rows + rowsBefore)
        let isKept: Bool
        do throws(StoreError) {
            isKept = try languages.publishing(languageUpdate) { () throws(StoreError) in
                try staged.publish(keepingReplacedAt: reservation.trash)
            }
        } catch {
            self.rows.forget(entry)
            throw error
        }
        if isKept {
            trash.versions.record(path, by: context.principal, now: context.now, content: new.entityTag)
            return entry
        }
        trash.reportUnkept(path, .crossVolume)
        self.rows.forget(entry)
        return nil
    }

    /// Returns the changes that copy the stored properties of a resource to its version in the trash.
    private func properties(of entry: TrashEntry) throws(StoreError) -> [StateChange] {
        let stored: [StoredProperty]
        do throws(StateError) {
            stored = try state.properties(at: entry.path, identity: entry.identity)
        } catch {
            throw StoreError(error)
        }
        if stored.isEmpty { return [] }
        return [
            .putRecord(
                entry.location, PropertyRecord(binding: Binding(identity: entry.identity), properties: stored)
            )
        ]
    }

    /// Returns the changes that bind the rows at `path` to both the old and the new resource, to be committed before
    /// the replacement: after a crash, the rows then belong to whichever of the two exists. Empty if there are no
    /// rows. Runs no query.
    private func binding(
        _ path: ResourcePath, from old: ResourceInfo?, to new: ResourceInfo
    ) -> [StateChange] {
        guard let old, state.hasRows(at: path) else { return [] }
        return [.bind(path, current: old.identity, pending: new.identity)]
    }
}

internal import DavitHTTP
package import DavitStore

/// Completes or discards changes that a crash interrupted.
package final class CrashRecovery: Sendable {
    package let trash: TrashRecovery
    private let resources: any ResourceStore
    private let stored: any ResourceStore
    private let state: any ShareState
    private let intents: RenameIntents
    private let ruleMoves: RuleMoves
    private let report: @Sendable (String) -> Void

    /// - Parameter stored: all stored resources, including those that rules hide.
    init(
        _ trash: TrashRecovery, _ resources: any ResourceStore, _ stored: any ResourceStore,
        _ state: any ShareState, _ intents: RenameIntents, _ ruleMoves: RuleMoves,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.trash = trash
        self.resources = resources
        self.stored = stored
        self.state = state
        self.intents = intents
        self.ruleMoves = ruleMoves
        self.report = report
    }

    /// Permits the store to remove files that interrupted changes have left behind. Call this before
    /// ``recover()``, which otherwise removes none of them, and only in the server that owns the state of the
    /// share, because no other process knows which of these files are uploads. A later call replaces `others`.
    /// - Parameter others: shares of this server that contain this one or are contained in it.
    package func removesLeftovers(besides others: [CrashRecovery] = []) {
        let states = [state] + others.map(\.state)
        stored.keepUploads { name in states.contains { $0.keepsStaged(name) } }
    }

    /// Completes or discards the changes that a crash interrupted, then makes the trash entries consistent
    /// with the trash. Call this once, before any other change.
    ///
    /// If the resource at the destination of a rename has the identity of the moved one, the rename happened:
    /// the rows are moved, and the replaced resource is removed or moved to the trash. Otherwise the intent
    /// is discarded.
    package func recover() throws(StateError) {
        for intent in try state.intents() {
            do throws(StoreError) {
                if let attributes = intent.attributes {
                    try finish(intent, attributes)
                    continue
                }
                // An intent for a content language exchanges nothing; the check below shows whether the new
                // content is in place.
                if intent.contentLanguage == nil { try finishExchange(intent) }
                guard try resources.identity(at: intent.destination) == intent.moved else {
                    intents.forget(intent)
                    continue
                }
                if intent.contentLanguage == nil {
                    try removeReplaced(intent)
                    try removeOrigin(intent)
                }
            } catch {
                report("recovery of an interrupted change failed; retrying at the next start: \(error.text)")
                continue
            }
            try state.commit(intent.rowsAfterwards)
        }
        try trash.recover()
        ruleMoves.recover()
    }

    /// Removes the access rules of entries that the trash no longer contains. Call this after
    /// ``TrashRecovery/adoptMounted()``. Blocks.
    /// Ends moves of access rules that another server began and did not end.
    package func recoverRuleMoves(_ ids: Set<Int64>) { ruleMoves.recover(ids) }

    package func sweepRules() { ruleMoves.sweep() }

    /// Completes the moves of access rules that could not be completed when their folders were moved. Call this
    /// periodically. Blocks.
    package func retryRuleMoves() { ruleMoves.retry() }

    /// Sets the attributes that belong to committed rows. Does not set attributes that already have the
    /// recorded value, which preserves the entity tag.
    private func finish(_ intent: RenameIntent, _ attributes: ResourceAttributes) throws(StoreError) {
        let path = intent.destination
        let info = try stored.lookup(path, last: .notFollowed, wait: .allowed).info
        if let info, info.identity == intent.moved {
            let missing = attributes.unlike(info)
            if missing.count > 0 { try stored.setAttributes(missing, at: path) }
        }
        intents.forget(intent)
    }

    /// Completes an exchange on a volume that cannot exchange two names atomically: there, one resource is
    /// hidden temporarily, and a crash can leave the destination unmapped.
    private func finishExchange(_ intent: RenameIntent) throws(StoreError) {
        guard intent.replaced != nil, try resources.identity(at: intent.destination) == nil,
            let source = try currentPath(of: intent)
        else { return }
        try resources.rename(source, toFree: intent.destination)
    }

    /// Returns the path at which an interrupted change left the moved resource: its source or its location in
    /// the trash, from which it was to be exchanged with the resource that it replaces; nil if it is at neither.
    private func currentPath(of intent: RenameIntent) throws(StoreError) -> ResourcePath? {
        for path in [intent.source, intent.kept] {
            if let path, try resources.identity(at: path) == intent.moved { return path }
        }
        return nil
    }

    private func removeReplaced(_ intent: RenameIntent) throws(StoreError) {
        if intent.isCopy { return resources.removeLeftover(at: intent.source) }
        guard let left = try resources.identity(at: intent.source) else { return }
        if left == intent.moved {
            // On this volume a rename takes two steps, so the content still has its old name as well.
            try resources.rename(intent.source, overContent: intent.destination)
        } else if left == intent.replaced, let kept = intent.kept {
            try resources.rename(intent.source, toFree: kept)
        } else if left == intent.replaced {
            _ = try resources.detach(intent.source).destroy()
        }
    }

    /// Removes the source of a move across volumes.
    private func removeOrigin(_ intent: RenameIntent) throws(StoreError) {
        guard let origin = intent.origin, try resources.identity(at: origin.path) == origin.identity
        else { return }
        _ = try resources.detach(origin.path).destroy()
    }
}

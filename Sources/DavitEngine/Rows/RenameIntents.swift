internal import DavitHTTP
internal import DavitStore

/// Performs renames that move rows as well, and records each one until it is complete.
///
/// Such a rename changes the file system and the database one after the other. An intent,
/// committed first, records the rename. After a crash, ``CrashRecovery/recover()`` determines from the identity at
/// the destination whether the rename happened, and completes or discards it.
final class RenameIntents: Sendable {
    private let resources: any ResourceStore
    private let rows: ResourceRows
    private let report: @Sendable (String) -> Void

    init(
        _ resources: any ResourceStore, _ rows: ResourceRows, report: @escaping @Sendable (String) -> Void
    ) {
        self.resources = resources
        self.rows = rows
        self.report = report
    }

    /// Commits the intent, runs the swap, and commits the resulting rows. If the second commit fails, undoes the
    /// swap and drops the intent. If the swap cannot be undone, the next start completes the rename.
    ///
    /// - Parameter entry: the entry of the resource that the swap moves to the trash.
    func perform(
        _ intent: RenameIntent, rows added: [StateChange] = [], reservation entry: TrashEntry? = nil,
        _ swap: () throws(StoreError) -> Void, undo: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try rows.commit([.putIntent(intent)] + added + (entry.map { [.putTrash($0)] } ?? []))
        do throws(StoreError) { try swap() } catch {
            if (try? resources.identity(at: intent.destination)) == intent.moved {
                // The swap happened, but may not be durable, and was not undone. Keep the intent with the
                // rows.
                report(
                    "a rename took effect but failed; it will be completed at the next start: \(error.text)")
            } else {
                forget(intent)
                if let entry { rows.forget(entry) }
            }
            throw error
        }
        do throws(StoreError) {
            try rows.commit(intent.rowsAfterwards)
        } catch {
            do throws(StoreError) {
                try undo()
                forget(intent)
                if let entry { rows.forget(entry) }
            } catch let second {
                report("a rename could not be undone; it will be completed at the next start: \(second.text)")
            }
            throw error
        }
    }

    /// Deletes an intent that requires no further action, and the rows that were created for a copy. For a rename,
    /// call this only if the rename did not happen.
    func forget(_ intent: RenameIntent) {
        let copied: [StateChange] = intent.isCopy ? [.removeRows(under: intent.source)] : []
        rows.commitOrRetry(
            copied + [.dropIntent(id: intent.id)],
            failure: "cannot delete the record of a finished or abandoned change; retrying later")
    }
}

extension RenameIntent {
    /// The changes of rows that complete the intent after the rename or the replacement of content.
    var rowsAfterwards: [StateChange] {
        if let languageChange { return [languageChange.row(at: destination), .dropIntent(id: id)] }
        let keep = kept.map { [StateChange.moveRows(from: destination, to: $0)] } ?? []
        let move = StateChange.moveRows(from: source, to: destination)
        return keep + [move] + (origin.map { [.removeRows(under: $0.path)] } ?? []) + [.dropIntent(id: id)]
    }
}

internal import DavitStore

/// A method without content whose change affects only rows of the database.
protocol RowMethod: ChangeMethod where Prepared == Void {
    /// Checks the change, and returns it.
    func rowChange(_ change: ChangeTarget, guard: WriteGuard) throws(WebDAVError) -> RowChange<Outcome>
}

extension RowMethod {
    var mayChangeRowsOnly: Bool { true }

    func rowChange(
        _ change: ChangeTarget, _ prepared: Void, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Outcome>? { try rowChange(change, guard: check) }

    func commit(
        _ change: ChangeTarget, _ prepared: Void, guard check: WriteGuard
    ) throws(WebDAVError) -> Outcome {
        let update = try rowChange(change, guard: check)
        try storing { () throws(StoreError) in try share.rows.commit(update.rows) }
        return update.outcome
    }
}

extension ShareState {
    /// Whether the trash has any entries.
    public var hasTrash: Bool { trashTotals.count > 0 }

    /// Returns the entries with higher numbers, in ascending order.
    /// - Parameter limit: the maximum number of entries.
    public func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        hasTrash ? try store.trash(after: number, limit: limit) : []
    }

    /// Returns the entry with `id`, or nil if there is none.
    public func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        hasTrash ? try store.trashEntry(id) : nil
    }

    /// Passes every entry to `body`, oldest first, until `body` returns false.
    package func forEachTrashEntry(_ body: (TrashEntry) throws(StateError) -> Bool) throws(StateError) {
        var last: Int64 = 0
        while true {
            let entries = try trash(after: last, limit: 256)
            for entry in entries {
                if try !body(entry) { return }
                last = entry.number
            }
            if entries.count < 256 { return }
        }
    }
}

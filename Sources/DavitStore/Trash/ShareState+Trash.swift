extension ShareState {
    /// Whether there is anything in the trash.
    public var hasTrash: Bool { trashTotals.count > 0 }

    /// The entries with higher numbers, in their order.
    /// - Parameter limit: how many at most.
    public func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        hasTrash ? try store.trash(after: number, limit: limit) : []
    }

    /// Nil if there is none.
    public func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        hasTrash ? try store.trashEntry(id) : nil
    }

    /// Shows every entry to `body`, the oldest first, until it returns false.
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

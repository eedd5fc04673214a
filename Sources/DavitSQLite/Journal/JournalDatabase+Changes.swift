package import DavitHTTP
package import DavitStore

extension JournalDatabase {
    /// One change: the last one of a member.
    package struct Change: Hashable, Sendable {
        package let number: Int64
        package let kind: JournalEntry.Kind
        package let isRemoved: Bool
        /// The collection of which it is a member.
        package let folder: ResourcePath
        package let name: [UInt8]
    }

    /// The changes of members of `path`, in the order of their numbers.
    /// - Parameters:
    ///   - isDeep: of members at any depth.
    ///   - through: the last number of interest.
    package func changes(
        in path: ResourcePath, isDeep: Bool, after: Int64, through: Int64, limit: Int
    ) throws(StateError) -> [Change] {
        var changes: [Change] = []
        let take = { (row: borrowing Row) in
            changes.append(
                Change(
                    number: row.integer(0),
                    kind: JournalEntry.Kind(rawValue: abs(row.integer(1))) ?? .content,
                    isRemoved: row.integer(1) < 0,
                    folder: isDeep ? ResourcePath(unchecked: row.blob(2)) : path, name: row.blob(3)))
        }
        let range: [SQLValue] = [.integer(after), .integer(through), .integer(Int64(limit))]
        if isDeep {
            try statements.below.forEachRow(path.subtree + range) { row in take(row) }
        } else {
            try statements.members.forEachRow([.blob(path.bytes)] + range) { row in take(row) }
        }
        return changes
    }

    /// Rows passed without a key, and sorts, by what asks for changes: 0 where an index serves.
    package var scanSteps: Int { statements.members.scanSteps + statements.below.scanSteps }
    /// What asking for changes has cost so far, in steps of SQLite's machine.
    package var steps: Int { statements.members.steps + statements.below.steps }
}

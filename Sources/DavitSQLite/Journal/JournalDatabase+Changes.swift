package import DavitHTTP
package import DavitStore

extension JournalDatabase {
    /// The last change of a member.
    package struct Change: Hashable, Sendable {
        package let number: Int64
        package let kind: JournalEntry.Kind
        package let isRemoved: Bool
        /// The parent collection of the member.
        package let folder: ResourcePath
        package let name: [UInt8]
    }

    /// Returns the changes of members of `path`, ordered by number.
    /// - Parameters:
    ///   - isDeep: whether to include members at any depth.
    ///   - through: the highest number to include.
    package func changes(
        in path: ResourcePath, isDeep: Bool, after: Int64, through: Int64, limit: Int
    ) throws(StateError) -> [Change] {
        var changes: [Change] = []
        let take = { (row: borrowing ResultRow) in
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

    /// The number of full-scan steps and sorts in queries for changes; 0 if all use an index.
    package var scanSteps: Int { statements.members.scanSteps + statements.below.scanSteps }
    /// The total cost of queries for changes so far, in steps of SQLite's virtual machine.
    package var steps: Int { statements.members.steps + statements.below.steps }
}

public import DavitHTTP
public import DavitStore

extension CollectionVisit {
    /// Entries that are read at once.
    private static let pieceEntries = 256

    /// What the trash keeps of everything that was below the collection, the newest first.
    ///
    /// Reads all of the trash, a piece at a time, and keeps no more than is asked for.
    /// - Parameters:
    ///   - number: only what went before the entry with this number; nil for the newest.
    ///   - limit: at least 1.
    /// - Throws: 503 when too much work waits; what reading the state throws.
    public func trash(before number: Int64?, limit: Int) async throws(HTTPError) -> [TrashEntry] {
        var newest: [TrashEntry] = []
        var last: Int64 = 0
        while true {
            let after = last
            let entries = try await trashPiece(after: after)
            for entry in entries where entry.number < number ?? .max && share.showsTrash(entry.path) {
                if entry.path != target, target.contains(entry.path) { newest.append(entry) }
            }
            if newest.count > limit { newest.removeFirst(newest.count - limit) }
            guard let end = entries.last, entries.count == Self.pieceEntries else { break }
            last = end.number
        }
        return newest.reversed()
    }

    /// What the trash still keeps, of these ids, of what was below the collection, in their order.
    /// - Throws: 503 when too much work waits; what reading the state throws.
    public func trash(_ ids: [String]) async throws(HTTPError) -> [TrashEntry] {
        let (share, target) = (share, target)
        return try await offload { () throws(WebDAVError) in
            var entries: [TrashEntry] = []
            do throws(StateError) {
                for id in ids {
                    guard let entry = try share.state.trashEntry(id), share.showsTrash(entry.path) else {
                        continue
                    }
                    if entry.path != target, target.contains(entry.path) { entries.append(entry) }
                }
            } catch {
                throw WebDAVError(state: error)
            }
            return entries
        }
    }

    private func trashPiece(after number: Int64) async throws(HTTPError) -> [TrashEntry] {
        let share = share
        return try await offload { () throws(WebDAVError) in
            do throws(StateError) {
                return try share.state.trash(after: number, limit: Self.pieceEntries)
            } catch {
                throw WebDAVError(state: error)
            }
        }
    }
}

extension Share {
    /// What nobody may see where it was is not seen in the trash either.
    func showsTrash(_ path: ResourcePath) -> Bool { rules?.refuses(in: path) != true }
}

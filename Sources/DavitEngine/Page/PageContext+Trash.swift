public import DavitHTTP
public import DavitStore

extension PageContext {
    /// Maximum number of entries in a batch.
    private static let pieceEntries = 256

    /// Returns the trash entries of resources that were below the collection, newest first.
    ///
    /// Reads the whole trash in batches, and keeps only the requested number of entries in memory.
    /// - Parameters:
    ///   - number: Only entries with smaller numbers are returned; nil to begin with the newest entry.
    ///   - limit: At least 1.
    /// - Throws: 503 if too much work is queued; any error from reading the state.
    public func trash(before number: Int64?, limit: Int) async throws(HTTPError) -> [TrashEntry] {
        var newest: [TrashEntry] = []
        var last: Int64 = 0
        while true {
            let after = last
            let entries = try await trashPiece(after: after)
            for entry in entries where entry.number < number ?? .max && share.showsTrashed(entry) {
                if entry.path != target, target.contains(entry.path) { newest.append(entry) }
            }
            if newest.count > limit { newest.removeFirst(newest.count - limit) }
            guard let end = entries.last, entries.count == Self.pieceEntries else { break }
            last = end.number
        }
        return newest.reversed()
    }

    /// Returns what the client may do with a trash entry. To restore it, the right to create it is needed.
    public func rights(ofTrashed entry: TrashEntry) -> ClientRights { share.clientRights(ofTrashed: entry) }

    /// Returns the existing trash entries with these ids that were below the collection, in the order of
    /// `ids`.
    /// - Throws: 503 if too much work is queued; any error from reading the state.
    public func trash(_ ids: [String]) async throws(HTTPError) -> [TrashEntry] {
        let (share, target) = (share, target)
        return try await offload { () throws(WebDAVError) in
            var entries: [TrashEntry] = []
            do throws(StateError) {
                for id in ids {
                    guard let entry = try share.state.trashEntry(id), share.showsTrashed(entry) else {
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

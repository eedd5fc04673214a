public import DavitHTTP
internal import DavitStore

extension AsideStore {
    private struct Kept {
        let path: ResourcePath
        let info: ResourceInfo
    }

    /// Removes companions that were written before a time, and then the oldest until the others are few enough; and
    /// folders without any. Walks them all, on a thread that may block.
    ///
    /// - Parameters:
    ///   - limitBytes: how much may stay.
    ///   - claiming: runs its closure, which removes what is at the path, if nobody uses that; returns what it returns,
    ///     or false.
    public func expire(
        before time: Timestamp, limitBytes: Int64 = limitBytes,
        _ claiming: (ResourcePath, () -> Bool) -> Bool
    ) {
        var (kept, folders) = walk()
        kept.sort { $0.info.modified.nanoseconds < $1.info.modified.nanoseconds }
        var bytes = kept.reduce(0) { $0 + $1.info.length }
        for companion in kept
        where companion.info.modified.nanoseconds < time.nanoseconds || bytes > limitBytes {
            let isDone = claiming(companion.path) {
                // Another one may have been written meanwhile.
                guard (try? aside.identity(at: companion.path)) == companion.info.identity else {
                    return false
                }
                return (try? aside.removeContent(at: companion.path)) != nil
            }
            if isDone { bytes -= companion.info.length }
        }
        for folder in folders.reversed() {
            // Those that have members stay.
            _ = claiming(folder) { (try? aside.removeEmptyCollection(at: folder)) != nil }
        }
    }

    /// All companions, and all folders, each behind the one it is in.
    private func walk() -> ([Kept], [ResourcePath]) {
        var kept: [Kept] = []
        var folders: [ResourcePath] = []
        var pending: [ResourcePath] = [.root]
        while let folder = pending.popLast() {
            guard let cursor = try? aside.members(of: folder) else { continue }
            var member = Member()
            while (try? cursor.next(&member)) == true {
                guard let path = folder.appending(member.name) else { continue }
                if member.info.isCollection {
                    folders.append(path)
                    pending.append(path)
                } else {
                    kept.append(Kept(path: path, info: member.info))
                }
            }
        }
        return (kept, folders)
    }
}

public import DavitHTTP
internal import DavitStore

extension SidecarStore {
    private struct Kept {
        let path: ResourcePath
        let info: ResourceInfo
    }

    /// Removes sidecars last written before `time`, then the oldest ones until the rest fits in `limitBytes`,
    /// and finally empty folders. Traverses all sidecars; call it on a thread that may block.
    ///
    /// - Parameters:
    ///   - limitBytes: the total size of sidecars to keep.
    ///   - claiming: runs its closure, which removes the resource at the path, if no request uses that path;
    ///     returns the closure's result, or false.
    public func expire(
        before time: Timestamp, limitBytes: Int64 = limitBytes,
        _ claiming: (ResourcePath, () -> Bool) -> Bool
    ) {
        var (kept, folders) = walk()
        kept.sort { $0.info.modified.nanoseconds < $1.info.modified.nanoseconds }
        var bytes = kept.reduce(0) { $0 + $1.info.length }
        for sidecar in kept
        where sidecar.info.modified.nanoseconds < time.nanoseconds || bytes > limitBytes {
            let isDone = claiming(sidecar.path) {
                // The sidecar may have been replaced in the meantime.
                guard (try? sidecarFolder.identity(at: sidecar.path)) == sidecar.info.identity else {
                    return false
                }
                return (try? sidecarFolder.removeContent(at: sidecar.path)) != nil
            }
            if isDone { bytes -= sidecar.info.length }
        }
        for folder in folders.reversed() {
            // Fails, as intended, if the folder is not empty.
            _ = claiming(folder) { (try? sidecarFolder.removeEmptyCollection(at: folder)) != nil }
        }
    }

    /// Returns all sidecars and all folders, parents before children.
    private func walk() -> ([Kept], [ResourcePath]) {
        var kept: [Kept] = []
        var folders: [ResourcePath] = []
        var pending: [ResourcePath] = [.root]
        while let folder = pending.popLast() {
            guard let cursor = try? sidecarFolder.members(of: folder) else { continue }
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

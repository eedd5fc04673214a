internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// A folder that is open as the base of changes to its members.
final class OpenFolder: OpenCollection {
    let directory: FileDescriptor

    init(_ directory: consuming FileDescriptor) { self.directory = directory }
}

extension SharedFolder {
    /// The folder in which a change happens: as its look-up found it, else by its path.
    /// - Throws: `forbidden` for the root, which is a member of nothing.
    func folder(of place: Place) throws(StoreError) -> OpenFolder {
        if let folder = place.collection as? OpenFolder { return folder }
        return OpenFolder(try openParent(of: place.path))
    }

    /// As ``resolve(_:last:wait:tellsAbsence:)``, and the folder in which that is: two calls of the system, of
    /// which the first says that there is no link above the name.
    ///
    /// With ``Wait/never`` only what lies on the root's own volume, if that is in memory: then neither this nor
    /// the change of a name waits for a disk.
    func resolveForChange(
        _ path: ResourcePath, last: LastSegment, beside other: Lookup?, wait: Wait
    ) throws(StoreError) -> (Resolution, OpenFolder?) {
        if wait == .never, !directory.isInMemory || !sync.isOff { throw .wouldBlock }
        // A name that is stored in other letters has to be asked for.
        guard let parent = path.parent, !directory.ignoresCase else {
            return (try resolve(path, last: last, wait: wait), nil)
        }
        if ReservedName.occurs(in: path) { throw .forbidden }
        let folder: OpenFolder
        if let open = other?.collection as? OpenFolder, other?.path.parent == parent {
            folder = open
        } else {
            do {
                folder = OpenFolder(
                    wait == .never
                        ? try directory.openCachedBase(parent.bytes)
                        : try directory.open(parent.bytes, for: .base, mayWait: true))
            } catch {
                switch error.code {
                case .noEntry: return (.missingAncestor(path), nil)
                // A link above the name, or content.
                case .loop, .notDirectory: return (try resolve(path, last: last, wait: wait), nil)
                case .again where wait == .never, .crossVolume: throw .wouldBlock
                default: throw StoreError(error)
                }
            }
        }
        return try resolve(path, last: last, in: folder, wait: wait)
    }

    /// - Parameter folder: where the path's last name is.
    private func resolve(
        _ path: ResourcePath, last: LastSegment, in folder: OpenFolder, wait: Wait
    ) throws(StoreError) -> (Resolution, OpenFolder?) {
        let status: FileStatus
        do {
            status = try folder.directory.status(of: Array(path.name))
        } catch {
            if error.code == .noEntry { return (.unmapped(path), folder) }
            throw StoreError(error)
        }
        switch status.kind {
        case .regular, .directory: return (.found(path, status), folder)
        case .special: return (.unservable(path), folder)
        case .symbolicLink: return (try resolve(path, last: last, wait: wait), nil)
        }
    }
}

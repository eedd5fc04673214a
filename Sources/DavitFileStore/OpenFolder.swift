internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// An open folder whose members are to be changed.
final class OpenFolder: OpenCollection {
    /// The maximum number of these folders that stay open in a shared folder.
    static let countLimit = 1024

    let directory: FileDescriptor
    /// The status when it was opened; nil if it does not stay open between requests.
    let status: FileStatus?

    init(_ directory: consuming FileDescriptor, status: FileStatus? = nil) {
        self.directory = directory
        self.status = status
    }
}

extension SharedFolder {
    /// Returns the folder in which a change takes place: the one that the lookup has left open, the root, or
    /// one newly opened by its path.
    /// - Throws: `forbidden` for the root, which has no parent.
    func folder(of location: ResourceLocation) throws(StoreError) -> OpenFolder {
        if let folder = location.collection as? OpenFolder { return folder }
        if let root, location.path.parent?.isRoot == true { return root }
        return OpenFolder(try openParent(of: location.path))
    }

    /// Like ``resolve(_:last:wait:reportsAbsence:)``, and also returns the parent folder, opened. Without
    /// links, usually takes one or two system calls: one opens the folder, unless it is already open, and
    /// verifies that there is no link above the name; the other returns the status of the name.
    ///
    /// With ``Wait/never``, succeeds only on the volume of the root, and only if ``commitsWithoutBlocking``
    /// is true, so that neither this call nor changing a name waits for disk I/O.
    func resolveForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> (Resolution, OpenFolder?) {
        if wait == .never, !commitsWithoutBlocking { throw .wouldBlock }
        guard let parent = path.parent, !directory.findsOtherSpellings(of: path.bytes) else {
            return (try resolve(path, last: last, wait: wait), nil)
        }
        if ReservedName.occurs(in: path) { throw .forbidden }
        let folder: OpenFolder
        do {
            folder = try openFolder(at: parent, reusing: other, wait: wait)
        } catch {
            switch error.code {
            case .noEntry where !hasSpellings(parent): return (.missingAncestor(path), nil)
            // The path contains a link or another spelling, or has content in place of a folder.
            case .loop, .notDirectory, .noEntry: return (try resolve(path, last: last, wait: wait), nil)
            case .again where wait == .never, .crossVolume: throw .wouldBlock
            default: throw StoreError(error)
            }
        }
        return try resolve(path, last: last, in: folder, wait: wait)
    }

    /// Whether changes on the volume of the root never wait for disk I/O.
    var commitsWithoutBlocking: Bool { directory.isInMemory && sync.isOff && directory.matching == .bytes }

    /// Opens the folder of a name without looking up the name itself.
    /// - Throws: `wouldBlock` if the folder cannot be opened directly, for example because of a link in its
    ///   path.
    func folderOfFreeName(_ path: ResourcePath, reusing other: Lookup?) throws(StoreError) -> OpenFolder {
        // Finding another spelling requires a lookup.
        guard commitsWithoutBlocking, !hasSpellings(path), let parent = path.parent else { throw .wouldBlock }
        if ReservedName.occurs(in: path) { throw .forbidden }
        do { return try openFolder(at: parent, reusing: other, wait: .never) } catch { throw .wouldBlock }
    }

    private func openFolder(
        at path: ResourcePath, reusing other: Lookup?, wait: Wait
    ) throws(SystemError) -> OpenFolder {
        if path.isRoot, let root { return root }
        if let other, let folder = other.collection as? OpenFolder, other.path.isMember(of: path) {
            return folder
        }
        let mayKeep = mayKeepFolder(at: path)
        if mayKeep, let folder = folders.find(path) {
            if isCurrent(folder, at: path) { return folder }
            folders.drop(folder, at: path)
        }
        let opened =
            wait == .never
            ? try directory.openCachedBase(path.bytes)
            : try directory.open(path.bytes, for: .base, mayWait: true)
        return mayKeep ? keepFolder(opened, at: path) : OpenFolder(opened)
    }

    /// Whether the path still leads to the open folder, without a link and on the same mount. One system call, which
    /// costs half as much as opening and closing the folder.
    private func isCurrent(_ folder: OpenFolder, at path: ResourcePath) -> Bool {
        guard let kept = folder.status,
            let status = try? directory.status(at: path.bytes, acceptsLink: true, mayWait: true, isOpen: true)
        else { return false }
        return status.identity == kept.identity && status.volume == kept.volume
    }

    /// - Parameter folder: the parent folder of `path`.
    private func resolve(
        _ path: ResourcePath, last: SymlinkMode, in folder: OpenFolder, wait: Wait
    ) throws(StoreError) -> (Resolution, OpenFolder?) {
        let status: FileStatus
        do {
            status = try folder.directory.status(of: path.name)
        } catch {
            guard error.code == .noEntry else { throw StoreError(error) }
            guard hasSpellings(path) else { return (.unmapped(path), folder) }
            return try resolveSpelling(of: path, last: last, in: folder, wait: wait)
        }
        switch status.kind {
        case .regular, .directory: return (.found(path, status), folder)
        case .special: return (.unservable(path), folder)
        case .symbolicLink: return (try resolve(path, last: last, wait: wait), nil)
        }
    }

    /// Like ``resolve(_:last:in:wait:)``, for a name that does not exist in the requested spelling.
    private func resolveSpelling(
        of path: ResourcePath, last: SymlinkMode, in folder: OpenFolder, wait: Wait
    ) throws(StoreError) -> (Resolution, OpenFolder?) {
        if wait == .never { throw .wouldBlock }
        let found = try storing { () throws(SystemError) in
            try member(Array(path.name), of: folder.directory)
        }
        guard let found, let stored = path.parent?.appending(found.name) else {
            return (.unmapped(path), folder)
        }
        return switch found.status.kind {
        case .regular, .directory: (.found(stored, found.status), folder)
        case .special: (.unservable(stored), folder)
        case .symbolicLink: (try resolve(stored, last: last, wait: wait), nil)
        }
    }
}

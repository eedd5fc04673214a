internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// The result of resolving a path.
enum Resolution {
    /// A regular file, a directory or, if requested, the link itself, with its canonical path.
    case found(ResourcePath, FileStatus)
    case unmapped(ResourcePath)
    case missingAncestor(ResourcePath)
    case unservable(ResourcePath)
}

extension SharedFolder {
    /// Resolves any path. If there are no links, a single lookup of the whole path is sufficient, because its
    /// success implies that the path is canonical.
    ///
    /// - Parameter reportsAbsence: if false, may return `missingAncestor` instead of `unmapped`, which saves
    ///   checking the parent.
    func resolve(
        _ path: ResourcePath, last: SymlinkMode, wait: Wait, reportsAbsence: Bool = true
    ) throws(StoreError) -> Resolution {
        if ReservedName.occurs(in: path) { throw .forbidden }
        let status: FileStatus
        do {
            status = try directory.status(
                at: path.bytes, acceptsLink: last == .notFollowed, mayWait: wait == .allowed)
        } catch {
            switch error.code {
            // An equivalent spelling of the name may exist.
            case .noEntry where hasSpellings(path): return try walk(path, last: last, wait: wait)
            case .noEntry where reportsAbsence: return try resolveAbsent(path, wait: wait)
            case .noEntry, .notDirectory: return .missingAncestor(path)
            case .loop: return try walk(path, last: last, wait: wait)
            case .again where wait == .never: throw .wouldBlock
            default: throw StoreError(error)
            }
        }
        switch status.kind {
        case .regular, .directory: return try .found(stored(path), status)
        case .special: return .unservable(path)
        case .symbolicLink: return try walk(path, last: last, wait: wait)
        }
    }

    /// Returns the path with its names as stored, for volumes on which several spellings refer to one name.
    private func stored(_ path: ResourcePath) throws(StoreError) -> ResourcePath {
        guard directory.findsOtherSpellings(of: path.bytes) else { return path }
        let bytes = try storing { () throws(SystemError) in try directory.storedPath(of: path.bytes) }
        return ResourcePath(segments: bytes.split(separator: UInt8(ascii: "/"))) ?? path
    }

    private func resolveAbsent(_ path: ResourcePath, wait: Wait) throws(StoreError) -> Resolution {
        guard let parent = path.parent else { return .missingAncestor(path) }
        // An ancestor may have become a link in the meantime, so use the canonical path of the parent.
        switch try resolve(parent, last: .followed, wait: wait, reportsAbsence: false) {
        case .found(let canonical, let status) where status.kind == .directory:
            guard let path = canonical.appending(path.name) else { throw .invalidName }
            return .unmapped(path)
        default: return .missingAncestor(path)
        }
    }

    /// Resolves the path name by name, if it contains links or requires other spellings.
    private func walk(
        _ path: ResourcePath, last: SymlinkMode, wait: Wait
    ) throws(StoreError) -> Resolution {
        // Reading links and folders may require disk I/O.
        if wait == .never { throw .wouldBlock }
        return try storing { () throws(SystemError) in
            var walk = try LinkResolver(path, last: last, in: self)
            return try walk.run()
        }
    }

    /// Returns the metadata of the resource at a path, including its stamp.
    func info(_ status: FileStatus, at path: ResourcePath, wait: Wait) throws(StoreError) -> ResourceInfo {
        guard VersionStamp.isNeeded(for: status) else { return ResourceInfo(status, stamp: 0) }
        // Reading extended attributes may require disk I/O.
        if wait == .never { throw .wouldBlock }
        guard let file = try? directory.open(path.bytes, for: .content, mayWait: true) else {
            return ResourceInfo(status, stamp: UInt64(bitPattern: status.created ?? 0))
        }
        return ResourceInfo(status, of: file)
    }
}

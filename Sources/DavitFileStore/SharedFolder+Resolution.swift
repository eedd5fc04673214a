internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Where a path leads.
enum Resolution {
    /// A regular file, a directory or, if asked for, the link itself; with the canonical path.
    case found(ResourcePath, FileStatus)
    case unmapped(ResourcePath)
    case missingAncestor(ResourcePath)
    case unservable(ResourcePath)
}

extension SharedFolder {
    /// Resolves any path. One call of the system if there is no link in it: its success says that the path is
    /// canonical.
    ///
    /// - Parameter tellsAbsence: if false, `missingAncestor` stands for `unmapped` as well, and saves a look
    ///   at the parent.
    func resolve(
        _ path: ResourcePath, last: LastSegment, wait: Wait, tellsAbsence: Bool = true
    ) throws(StoreError) -> Resolution {
        if ReservedName.occurs(in: path) { throw .forbidden }
        let status: FileStatus
        do {
            status = try directory.status(
                at: path.bytes, acceptsLink: last == .itself, mayWait: wait == .allowed)
        } catch {
            switch error.code {
            // Another spelling of a name may be there.
            case .noEntry where hasSpellings(path): return try walk(path, last: last, wait: wait)
            case .noEntry where tellsAbsence: return try resolveAbsent(path, wait: wait)
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

    /// The path as its names are stored: where the volume takes several spellings for one name, it is those of one
    /// file.
    private func stored(_ path: ResourcePath) throws(StoreError) -> ResourcePath {
        guard directory.findsOtherSpellings(of: path.bytes) else { return path }
        let bytes = try storing { () throws(SystemError) in try directory.storedPath(of: path.bytes) }
        return ResourcePath(segments: bytes.split(separator: UInt8(ascii: "/"))) ?? path
    }

    private func resolveAbsent(_ path: ResourcePath, wait: Wait) throws(StoreError) -> Resolution {
        guard let parent = path.parent else { return .missingAncestor(path) }
        // The name may be a link that was put there since; the parent's own answer decides.
        switch try resolve(parent, last: .followed, wait: wait, tellsAbsence: false) {
        case .found(let canonical, let status) where status.kind == .directory:
            guard let path = canonical.appending(path.name) else { throw .invalidName }
            return .unmapped(path)
        default: return .missingAncestor(path)
        }
    }

    /// Name by name: where there are links, or other spellings than the one asked for.
    private func walk(
        _ path: ResourcePath, last: LastSegment, wait: Wait
    ) throws(StoreError) -> Resolution {
        // Link texts and folders may have to be read from the disk.
        if wait == .never { throw .wouldBlock }
        return try storing { () throws(SystemError) in
            var walk = try LinkWalk(path, last: last, in: self)
            return try walk.run()
        }
    }

    /// What is at a path, with its stamp.
    func info(_ status: FileStatus, at path: ResourcePath, wait: Wait) throws(StoreError) -> ResourceInfo {
        guard Stamp.isNeeded(for: status) else { return ResourceInfo(status, stamp: 0) }
        // Attributes can be anywhere on the disk.
        if wait == .never { throw .wouldBlock }
        guard let file = try? directory.open(path.bytes, for: .content, mayWait: true) else {
            return ResourceInfo(status, stamp: UInt64(bitPattern: status.created ?? 0))
        }
        return ResourceInfo(status, of: file)
    }
}

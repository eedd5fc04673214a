public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// Opening content for reading.
extension FileResourceReader {
    public func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        if let file = kept.find(path) {
            if isCurrent(file, at: path, wait: wait) { return file.resource }
            kept.drop(file, at: path)
        }
        do {
            return try openAnew(path, wait: wait)
        } catch {
            // `busy` can mean that descriptors have run out: close the cached files, which only save time, and
            // try again.
            guard error == .busy, share.closeAll() else { throw error }
            return try openAnew(path, wait: wait)
        }
    }

    /// Opens the path as content without resolving it first: resolving it would take as long as all other
    /// steps together.
    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        do throws(SystemError) {
            return try openContent(path, as: path.name, isCanonical: true, wait: .allowed).resource
        } catch {
            // For example, the path refers to a collection or a link, or is another spelling of the name.
            return try open(path, wait: .allowed)
        }
    }

    /// Closes cached files and folders that were not used since the last call: an open file keeps its disk space
    /// after removal, and without this call it would stay open while there are no requests. May block.
    /// - Returns: whether the caller should call this again later.
    public func closeUnusedFiles() -> Bool { share.closeUnused() }

    /// Whether the path still leads to the open file without any link and its status is unchanged, so that
    /// the cached metadata and access permissions are still valid.
    private func isCurrent(_ file: CachedOpenFile, at path: ResourcePath, wait: Wait) -> Bool {
        let status = try? share.directory.status(
            at: path.bytes, acceptsLink: false, mayWait: wait == .allowed, isOpen: true)
        return status == file.status
    }

    private func openAnew(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        let resolution = try share.resolve(path, last: .followed, wait: wait, reportsAbsence: false)
        guard case .found(let canonical, let seen) = resolution else { throw .notFound }
        let isCanonical = canonical == path
        if seen.kind == .directory {
            return OpenResource(
                collection: ResourceInfo(seen, stamp: 0), canonicalPath: isCanonical ? nil : canonical)
        }
        do {
            let file = try openContent(canonical, as: path.name, isCanonical: isCanonical, wait: wait)
            if isCanonical { keep(file, at: path) }
            return file.resource
        } catch {
            switch error.code {
            case .again where wait == .never: throw .wouldBlock
            // The file was removed or replaced in the meantime.
            case .noEntry, .notDirectory, .loop, .noDevice: throw .notFound
            default: throw StoreError(error)
            }
        }
    }

    private func keep(_ file: CachedOpenFile, at path: ResourcePath) {
        // The version stamp of a file with coarse timestamps can change although its status does not.
        guard file.status.volume == share.keptVolume, !VersionStamp.isNeeded(for: file.status),
            kept.isWanted(path)
        else { return }
        kept.keep(file, at: path)
    }

    /// - Parameters:
    ///   - path: the canonical path of a regular file.
    ///   - name: the requested name.
    ///   - isCanonical: whether the requested path was `path`.
    /// - Throws: `noEntry` if there is no longer a regular file at the path.
    private func openContent(
        _ path: ResourcePath, as name: ArraySlice<UInt8>, isCanonical: Bool, wait: Wait
    ) throws(SystemError) -> CachedOpenFile {
        let file = try share.directory.open(path.bytes, for: .content, mayWait: wait == .allowed)
        let status = try file.status()
        guard status.kind == .regular else { throw .absent }
        // Reading extended attributes may require disk I/O.
        if wait == .never, VersionStamp.isNeeded(for: status) { throw .notCached }
        let info = ResourceInfo(status, of: file)
        let content = OpenFile(file, length: status.length, volume: status.volume)
        let resource = OpenResource(
            info, file: content, head: ContentHead(info, name: name, rules: rules),
            canonicalPath: isCanonical ? nil : path)
        return CachedOpenFile(status: status, resource: resource)
    }
}

public import DavitHTTP
public import DavitStore
internal import DavitSystem

/// Content for reading.
extension FileResourceReader {
    public func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        if let file = kept.find(path) {
            if isCurrent(file, at: path, wait: wait) { return file.resource }
            kept.drop(file, at: path)
        }
        do {
            return try openAnew(path, wait: wait)
        } catch {
            // Descriptors that only save time go first.
            guard error == .busy, kept.closeAll() else { throw error }
            return try openAnew(path, wait: wait)
        }
    }

    /// Without a look at what it is first, which takes as long as the rest.
    public func openMember(_ path: ResourcePath) throws(StoreError) -> OpenResource {
        do throws(SystemError) {
            return try openContent(path, as: path.name, isCanonical: true, wait: .allowed).resource
        } catch {
            // A collection, a link, another spelling; or nothing, as will show.
            return try open(path, wait: .allowed)
        }
    }

    /// Closes files that nobody asked for since the last call: they keep a removed file's space, and nothing else
    /// closes them while there are no requests. May block.
    /// - Returns: true if it should be called again after a while.
    public func closeUnusedFiles() -> Bool { kept.closeUnused() }

    /// Whether the path still leads to the open file, without any link, and nothing about it has changed: then what
    /// was said about it is still true, and who may read it is still the same.
    private func isCurrent(_ file: KeptFile, at path: ResourcePath, wait: Wait) -> Bool {
        let status = try? share.directory.status(
            at: path.bytes, acceptsLink: false, mayWait: wait == .allowed, isOpen: true)
        return status == file.status
    }

    private func openAnew(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        let resolution = try share.resolve(path, last: .followed, wait: wait, tellsAbsence: false)
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
            // Something else has taken its place, or nothing.
            case .noEntry, .notDirectory, .loop, .noDevice: throw .notFound
            default: throw StoreError(error)
            }
        }
    }

    private func keep(_ file: KeptFile, at path: ResourcePath) {
        // A stamp may change without anything else that shows in the status.
        guard file.status.volume == keptVolume, !Stamp.isNeeded(for: file.status), kept.isWanted(path)
        else { return }
        kept.keep(file, at: path)
    }

    /// - Parameters:
    ///   - path: of a regular file, canonical.
    ///   - name: under which it was asked for.
    ///   - isCanonical: that was this path.
    /// - Throws: `noEntry` if that is no longer one.
    private func openContent(
        _ path: ResourcePath, as name: ArraySlice<UInt8>, isCanonical: Bool, wait: Wait
    ) throws(SystemError) -> KeptFile {
        let file = try share.directory.open(path.bytes, for: .content, mayWait: wait == .allowed)
        let status = try file.status()
        guard status.kind == .regular else { throw .absent }
        // Attributes can be anywhere on the disk.
        if wait == .never, Stamp.isNeeded(for: status) { throw .notCached }
        let info = ResourceInfo(status, of: file)
        let content = OpenFile(file, length: status.length, volume: status.volume)
        let resource = OpenResource(
            info, file: content, head: ContentHead(info, name: name, rules: rules),
            canonicalPath: isCanonical ? nil : path)
        return KeptFile(status: status, resource: resource)
    }
}

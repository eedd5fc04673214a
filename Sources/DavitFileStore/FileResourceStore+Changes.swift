public import DavitHTTP
public import DavitStore
internal import DavitSystem

extension FileResourceStore {
    public func createCollection(at path: ResourcePath) throws(StoreError) -> ResourceInfo {
        if ReservedName.occurs(in: path) { throw .forbidden }
        if path.isRoot { throw .alreadyExists }
        let parent = try share.openParent(of: path)
        let name = Array(path.name)
        let info = try storing(absent: .missingAncestor) { () throws(SystemError) in
            try parent.makeDirectory(name, mode: 0o777)
            return ResourceInfo(try parent.status(of: name), stamp: 0)
        }
        try share.sync.names(in: parent)
        return info
    }

    public func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try share.identity(at: path)
    }

    public func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try share.rename(source, toFree: destination)
    }

    public func renameInOneStep(
        _ source: ResourcePath, toFree destination: ResourcePath
    ) throws(StoreError) -> Bool {
        let from = try share.openParent(of: source)
        let to = try share.openParent(of: destination)
        let (name, newName) = (Array(source.name), Array(destination.name))
        return try share.renameInOneStep(name, of: from, toFree: newName, in: to)
    }

    public func rename(_ source: ResourcePath, overContent destination: ResourcePath) throws(StoreError) {
        let from = try share.openParent(of: source)
        let to = try share.openParent(of: destination)
        let (name, newName) = (Array(source.name), Array(destination.name))
        try storing { () throws(SystemError) in
            try from.rename(name, to: to, as: newName)
            // Two names of one file: the rename does nothing and says it worked (rename(2)).
            if let left = try? from.status(of: name), let new = try? to.status(of: newName),
                left.identity == new.identity, left.kind != .directory, source != destination
            {
                try from.unlink(name)
            }
        }
        try share.sync.names(to: to, from: from)
    }

    /// Where the volume cannot exchange, `b` is hidden, `a` takes its place and `b` takes that of `a`. A crash
    /// in between leaves either `a` in its place and nothing at `b`, or `a` at `b` and nothing at `a`: the
    /// recorded intent then finishes the rename.
    public func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try share.exchange(a, b)
    }

    public func removeContent(at path: ResourcePath) throws(StoreError) {
        let parent = try share.openParent(of: path)
        let name = Array(path.name)
        do {
            try parent.unlink(name)
        } catch {
            // POSIX: EPERM for a directory; Linux: EISDIR.
            if error.code == .notPermitted, (try? parent.status(of: name))?.kind == .directory {
                throw .wrongKind
            }
            throw StoreError(error)
        }
        try share.sync.names(in: parent)
    }

    public func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        let parent = try share.openParent(of: path)
        do {
            try parent.removeDirectory(Array(path.name))
        } catch {
            throw error.code == .notDirectory ? .wrongKind : StoreError(error)
        }
        try share.sync.names(in: parent)
    }

    public func setExecutable(_ isExecutable: Bool, at path: ResourcePath) throws(StoreError) {
        let parent = try share.openParent(of: path)
        let name = Array(path.name)
        let status = try storing { () throws(SystemError) in try parent.status(of: name) }
        guard status.kind == .regular else { throw .wrongKind }
        let executable = (status.mode & 0o444) >> 2
        let mode = isExecutable ? status.mode | executable : status.mode & ~0o111
        if mode == status.mode { return }
        try storing { () throws(SystemError) in try parent.setMode(mode, of: name) }
        do throws(StoreError) { try share.sync.attributes(of: name, in: parent) } catch {
            try? parent.setMode(status.mode, of: name)
            throw error
        }
    }

    public func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        do {
            return try share.directory.open(path.bytes, for: .base, mayWait: true).space()
        } catch {
            guard error.code == .notDirectory, let parent = path.parent else { throw StoreError(error) }
            return try storing { () throws(SystemError) in
                try share.directory.open(parent.bytes, for: .base, mayWait: true).space()
            }
        }
    }

    public func removeLeftover(at path: ResourcePath) {
        guard let name = ReservedName(path.name), let parent = try? share.openParent(of: path) else { return }
        var budget = Int.max
        share.removeLeftover(name, in: parent, budget: &budget)
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

extension SharedFolder {
    func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try rename(source, of: self, toFree: destination)
    }

    /// Renames a resource of `other` to a free name in this folder.
    func rename(
        _ source: ResourcePath, of other: SharedFolder, toFree destination: ResourcePath
    ) throws(StoreError) {
        let from = try other.openParent(of: source)
        let to = try openParent(of: destination)
        try rename(Array(source.name), of: from, toFree: Array(destination.name), in: to)
        other.closeFolder(source)
    }

    func rename(
        _ name: [UInt8], of from: borrowing FileDescriptor, toFree newName: [UInt8],
        in to: borrowing FileDescriptor
    ) throws(StoreError) {
        if try renameInOneStep(name, of: from, toFree: newName, in: to) { return }
        try renameInSteps(name, of: from, toFree: newName, in: to)
    }

    /// - Returns: false, without any change, if the volume cannot rename in one step.
    func renameInOneStep(
        _ name: [UInt8], of from: borrowing FileDescriptor, toFree newName: [UInt8],
        in to: borrowing FileDescriptor
    ) throws(StoreError) -> Bool {
        do {
            try from.rename(name, to: to, asFree: newName)
        } catch {
            if error.code == .exists, try isOwnName(newName, in: to, of: name, in: from) {
                guard
                    try storing({ () throws(SystemError) in
                        try respellInOneStep(name, as: newName, in: from)
                    })
                else { return false }
            } else if error.isUnsupported {
                return false
            } else {
                throw StoreError(error)
            }
        }
        try syncRename(of: name, in: from, to: newName, in: to)
        return true
    }

    /// Whether the destination name refers to the same directory entry as the source.
    private func isOwnName(
        _ newName: [UInt8], in to: borrowing FileDescriptor, of name: [UInt8],
        in from: borrowing FileDescriptor
    ) throws(StoreError) -> Bool {
        do { return try isOneEntry(name, of: from, newName, of: to) } catch { throw StoreError(error) }
    }

    /// Syncs the folders of a completed rename. If that fails, reverts the rename, because its rows must not
    /// be moved while a power loss may still undo it.
    private func syncRename(
        of name: [UInt8], in from: borrowing FileDescriptor, to newName: [UInt8],
        in to: borrowing FileDescriptor
    ) throws(StoreError) {
        do throws(StoreError) { try sync.names(to: to, from: from) } catch {
            try? to.rename(newName, to: from, as: name)
            throw error
        }
    }

    /// Renames in several steps, for volumes that cannot refuse to replace a destination: content gets a
    /// second hard link before the first is removed; for a collection, the destination can only be checked
    /// beforehand. The path lock of the change excludes other requests of this server.
    private func renameInSteps(
        _ name: [UInt8], of from: borrowing FileDescriptor, toFree newName: [UInt8],
        in to: borrowing FileDescriptor
    ) throws(StoreError) {
        if (try? to.status(of: newName)) != nil {
            guard try isOwnName(newName, in: to, of: name, in: from) else { throw .alreadyExists }
            try storing { () throws(SystemError) in try respell(name, as: newName, in: from) }
            return try syncRename(of: name, in: from, to: newName, in: to)
        }
        do {
            try from.link(name, to: to, as: newName)
        } catch {
            // Directories and some volumes do not support hard links.
            guard error.code == .notPermitted || error.isUnsupported else { throw StoreError(error) }
            try storing { () throws(SystemError) in try from.rename(name, to: to, as: newName) }
            return try syncRename(of: name, in: from, to: newName, in: to)
        }
        try storing { () throws(SystemError) in try from.unlink(name) }
        try syncRename(of: name, in: from, to: newName, in: to)
    }

    func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try exchange(a, with: self, b)
    }

    /// Exchanges a resource of this folder with one of `other`.
    func exchange(
        _ a: ResourcePath, with other: SharedFolder, _ b: ResourcePath
    ) throws(StoreError) {
        let first = try openParent(of: a)
        let second = try other.openParent(of: b)
        let (name, otherName) = (Array(a.name), Array(b.name))
        // The caller usually removes one of the two resources next, so their cached files must be closed.
        defer {
            closeTree(a)
            other.closeTree(b)
        }
        var isDone = true
        do {
            try first.exchange(name, with: second, otherName)
        } catch {
            guard error.isUnsupported else { throw StoreError(error) }
            isDone = false
        }
        if isDone {
            do throws(StoreError) { return try sync.names(to: second, from: first) } catch {
                try? first.exchange(name, with: second, otherName)
                throw error
            }
        }
        let hidden = ReservedName.random()
        try other.withNameInUse(hidden) { () throws(StoreError) in
            // The lock is held until the end, to protect the file from the sweep of another process.
            let lock = AdvisoryLock(on: otherName, in: second)
            try storing { () throws(SystemError) in
                try second.rename(otherName, to: second, as: hidden.bytes)
                do throws(SystemError) {
                    try first.rename(name, to: second, as: otherName)
                } catch {
                    try? second.rename(hidden.bytes, to: second, as: otherName)
                    throw error
                }
                do throws(SystemError) {
                    try second.rename(hidden.bytes, to: first, as: name)
                } catch {
                    try? second.rename(otherName, to: first, as: name)
                    try? second.rename(hidden.bytes, to: second, as: otherName)
                    throw error
                }
            }
            lock.release()
        }
        // If the sync fails, recovery completes the exchange by its intent, as after a crash between the
        // steps.
        try sync.names(to: second, from: first)
    }
}

/// An advisory lock on a file or directory. Nothing is locked if the file cannot be opened or locked; in that
/// case a sweep cannot lock it either and leaves it alone.
struct AdvisoryLock: ~Copyable, Sendable {
    private let file: FileDescriptor?

    init(on name: [UInt8], in directory: borrowing FileDescriptor) {
        file = Self.lock(name, in: directory)
    }

    private static func lock(_ name: [UInt8], in directory: borrowing FileDescriptor) -> FileDescriptor? {
        let file: FileDescriptor
        switch try? directory.status(of: name).kind {
        case .directory:
            guard let opened = try? directory.open(name, for: .entries) else { return nil }
            file = opened
        case .regular:
            guard let opened = try? directory.open(name, for: .content) else { return nil }
            file = opened
        default: return nil
        }
        _ = try? file.tryLock()
        return file
    }

    consuming func release() {}
}

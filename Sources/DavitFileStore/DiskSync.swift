internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Waits for the disk where the ``SyncLevel`` asks for it, and nowhere else.
final class DiskSync: Sendable {
    private let level: SyncLevel
    /// The folders that are synced or waited for just now.
    private let folders = Mutex<[FileStatus.Identity: Folder]>([:])
    /// The volume of the root, as a whole: for folders there that may be written to and not be read. Only what can be
    /// opened for reading can be synced.
    private let volume: (files: Synced, device: UInt64)?

    /// - Parameter root: the shared folder, which can be read.
    init(_ level: SyncLevel, root: borrowing FileDescriptor) {
        self.level = level
        guard level == .full, let device = try? root.status().device,
            let opened = try? root.open([UInt8(ascii: ".")], for: .entries)
        else {
            volume = nil
            return
        }
        volume = (Synced(opened, isVolume: true), device)
    }

    /// Nothing is waited for.
    var isOff: Bool { level == .none }

    /// Content that is complete, with its attributes, and has no name yet.
    func content(_ file: borrowing FileDescriptor) throws(StoreError) {
        guard level != .none else { return }
        try storing { () throws(SystemError) in try file.sync() }
    }

    /// The content of a whole tree that was made here: one wait for the volume instead of one for each file.
    func tree(_ directory: borrowing FileDescriptor) throws(StoreError) {
        guard level != .none else { return }
        try storing { () throws(SystemError) in try directory.syncVolume() }
    }

    /// The execute bits, or the time, of content or of a directory: a change that has no name and no new bytes.
    func attributes(
        of name: [UInt8], _ kind: FileStatus.Kind, in directory: borrowing FileDescriptor
    ) throws(StoreError) {
        guard level == .full else { return }
        try storing { () throws(SystemError) in try directory.open(name, for: OpenMode(kind)).sync() }
    }

    /// The names in a folder, after they have changed. Changes that wait at the same time share one sync: one that
    /// begins after a change covers it.
    func names(in directory: borrowing FileDescriptor) throws(StoreError) {
        guard level == .full else { return }
        let (folder, identity) = try enter(directory)
        defer { leave(folder, identity) }
        if let failure = folder.line.perform(()) { throw failure }
    }

    /// The names in two folders, that in which one is new first: nothing is lost between the two.
    func names(
        to new: borrowing FileDescriptor, from old: borrowing FileDescriptor
    ) throws(StoreError) {
        guard level == .full else { return }
        try names(in: new)
        let isSame = try storing { () throws(SystemError) in
            try new.status().identity == old.status().identity
        }
        if !isSame { try names(in: old) }
    }

    // MARK: Folders

    /// A folder that is open as long as somebody waits for it.
    private final class Folder: Sendable {
        let line: GroupLine<Void, StoreError>
        let userCount = Mutex(0)

        init(_ synced: Synced) {
            line = GroupLine(background: .immediate) { requests in
                Array(repeating: synced.sync(), count: requests.count)
            }
        }
    }

    /// A folder, or all of its volume.
    private final class Synced: Sendable {
        private let directory: FileDescriptor
        private let isVolume: Bool

        init(_ directory: consuming FileDescriptor, isVolume: Bool) {
            self.directory = directory
            self.isVolume = isVolume
        }

        func sync() -> StoreError? {
            do {
                if isVolume { try directory.syncVolume() } else { try directory.sync() }
                return nil
            } catch {
                // A volume that syncs no directories has nothing to offer here.
                return error.isUnsupported ? nil : StoreError(error)
            }
        }
    }

    private func enter(
        _ directory: borrowing FileDescriptor
    ) throws(StoreError) -> (Folder, FileStatus.Identity) {
        let identity = try storing { () throws(SystemError) in try directory.status().identity }
        let known = folders.withLock { folders in
            let folder = folders[identity]
            folder?.userCount.withLock { $0 += 1 }
            return folder
        }
        if let known { return (known, identity) }
        let opened = Folder(try open(directory, identity))
        return folders.withLock { folders in
            let folder = folders[identity] ?? opened
            folders[identity] = folder
            folder.userCount.withLock { $0 += 1 }
            return (folder, identity)
        }
    }

    /// The names have changed already: what may not be read is synced all the same.
    private func open(
        _ directory: borrowing FileDescriptor, _ identity: FileStatus.Identity
    ) throws(StoreError) -> Synced {
        do {
            // A base is open for its members only.
            return Synced(try directory.open([UInt8(ascii: ".")], for: .entries), isVolume: false)
        } catch {
            if error.code == .accessDenied, let volume, volume.device == identity.device {
                return volume.files
            }
            throw StoreError(error)
        }
    }

    private func leave(_ folder: Folder, _ identity: FileStatus.Identity) {
        folders.withLock { folders in
            let isLast = folder.userCount.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { folders[identity] = nil }
        }
    }
}

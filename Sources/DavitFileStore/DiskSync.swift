internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Syncs files, folders and volumes as the ``SyncLevel`` requires.
final class DiskSync: Sendable {
    private let level: SyncLevel
    /// The folders that are being synced or waiting for a sync.
    private let folders = Mutex<[FileStatus.Identity: Folder]>([:])
    /// The root's volume, synced as a whole for folders on it that are writable but not readable: syncing a
    /// folder requires opening it for reading.
    private let volume: (files: SyncTarget, device: UInt64)?

    /// - Parameter root: the shared folder, which is readable.
    init(_ level: SyncLevel, root: borrowing FileDescriptor) {
        self.level = level
        guard level == .full, let device = try? root.status().device,
            let opened = try? root.open([UInt8(ascii: ".")], for: .entries)
        else {
            volume = nil
            return
        }
        volume = (SyncTarget(opened, isVolume: true), device)
    }

    /// Whether syncing is disabled.
    var isOff: Bool { level == .none }

    /// Syncs the content and attributes of a new file or empty folder, before it gets its final name.
    func content(_ file: borrowing FileDescriptor) throws(StoreError) {
        guard level != .none else { return }
        try storing { () throws(SystemError) in try file.sync() }
    }

    /// Syncs the content of a newly created tree: one sync of the volume instead of one for each file.
    func tree(_ directory: borrowing FileDescriptor) throws(StoreError) {
        guard level != .none else { return }
        try storing { () throws(SystemError) in try directory.syncVolume() }
    }

    /// Syncs the execute bits or the modification time of content or a directory, when no name or content has
    /// changed.
    func attributes(
        of name: [UInt8], _ kind: FileStatus.Kind, in directory: borrowing FileDescriptor
    ) throws(StoreError) {
        guard level == .full else { return }
        try storing { () throws(SystemError) in try directory.open(name, for: OpenMode(kind)).sync() }
    }

    /// Syncs the names in a folder after a change. Concurrent changes share one sync: a sync that begins
    /// after a change covers it.
    func names(in directory: borrowing FileDescriptor) throws(StoreError) {
        guard level == .full else { return }
        let (folder, identity) = try enter(directory)
        defer { leave(folder, identity) }
        if let failure = folder.line.perform(()) { throw failure }
    }

    /// Syncs the names in two folders, first in the folder with the new name, so that a crash in between
    /// loses nothing.
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

    /// A folder that stays open while threads wait for its sync.
    private final class Folder: Sendable {
        let line: GroupCommitQueue<Void, StoreError>
        let userCount = Mutex(0)

        init(_ synced: SyncTarget) {
            line = GroupCommitQueue(background: .immediate) { requests in
                Array(repeating: synced.sync(), count: requests.count)
            }
        }
    }

    /// A folder, or its entire volume.
    private final class SyncTarget: Sendable {
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
                // If the volume does not support syncing directories, nothing more can be done.
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

    /// Opens a folder for syncing, or selects its volume if the folder is unreadable: the names in the folder
    /// have already changed and must be synced in any case.
    private func open(
        _ directory: borrowing FileDescriptor, _ identity: FileStatus.Identity
    ) throws(StoreError) -> SyncTarget {
        do {
            // A descriptor opened as a base only gives access to members and cannot be synced.
            return SyncTarget(try directory.open([UInt8(ascii: ".")], for: .entries), isVolume: false)
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

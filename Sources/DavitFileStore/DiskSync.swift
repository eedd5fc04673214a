internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Waits for the disk where the ``SyncLevel`` asks for it, and nowhere else.
final class DiskSync: Sendable {
    private let level: SyncLevel
    /// The folders that are synced or waited for just now.
    private let folders = Mutex<[FileStatus.Identity: Folder]>([:])

    init(_ level: SyncLevel) { self.level = level }

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

    /// The execute bits of content: a change that has no name and no new bytes.
    func attributes(of name: [UInt8], in directory: borrowing FileDescriptor) throws(StoreError) {
        guard level == .full else { return }
        try storing { () throws(SystemError) in try directory.open(name, for: .content).sync() }
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

        init(_ directory: consuming FileDescriptor) {
            let opened = Opened(directory)
            line = GroupLine(background: .immediate) { requests in
                Array(repeating: opened.sync(), count: requests.count)
            }
        }
    }

    private final class Opened: Sendable {
        private let directory: FileDescriptor

        init(_ directory: consuming FileDescriptor) { self.directory = directory }

        func sync() -> StoreError? {
            do {
                try directory.sync()
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
        // A base is open for its members only.
        let opened = Folder(
            try storing { () throws(SystemError) in try directory.open([UInt8(ascii: ".")], for: .entries) })
        return folders.withLock { folders in
            let folder = folders[identity] ?? opened
            folders[identity] = folder
            folder.userCount.withLock { $0 += 1 }
            return (folder, identity)
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

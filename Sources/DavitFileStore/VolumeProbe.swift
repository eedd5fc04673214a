internal import DavitStore
package import DavitSystem

/// What a folder and its volume can do, found out with two empty files under reserved names. Clients can neither see nor use
/// these names; the files are removed immediately and, after a crash, by the next sweep.
package struct VolumeProbe: Hashable, Sendable {
    /// Calls that the server prefers. Without one of them, it works in another way.
    package enum Feature: String, CaseIterable, Sendable {
        /// Files without a name until they are complete (`O_TMPFILE`).
        case unnamedFiles
        /// Exchanging two names in one step (`RENAME_EXCHANGE`).
        case exchange
        /// Renaming without replacing another file (`RENAME_NOREPLACE`).
        case exclusiveRename
        /// Extended attributes of users.
        case attributes
        /// Syncing files and folders (`fsync`).
        case sync
        /// Advisory locks (`flock`).
        case locks
    }

    /// The folder without links.
    package let path: String
    package private(set) var missing: Set<Feature> = []
    /// Whether names that differ only in case are the same.
    package private(set) var ignoresCase = false
    /// Whether the kernel reports changes by other machines, which it does for local volumes.
    package let isLocal: Bool
    package let isReadOnly: Bool
    package let availableBytes: Int64
    /// The number of files that can be created; nil if the volume has no such limit.
    package let availableFiles: Int64?
    /// Why no file could be created; nil if one could, or if none was to be created.
    package private(set) var problem: String?

    /// Probes a folder. Blocks.
    /// - Parameter writes: whether to create the two files; if not, `missing` is empty.
    /// - Throws: the system error if the folder cannot be opened.
    package init(_ path: String, writes: Bool) throws(SystemError) {
        let root = try RootDirectory(opening: path)
        self.path = String(decoding: root.realPath, as: UTF8.self)
        isLocal = root.descriptor.isOnLocalVolume
        isReadOnly = try root.descriptor.isOnReadOnlyVolume()
        availableBytes = try root.descriptor.space().available
        availableFiles = try root.descriptor.freeFiles()
        guard writes, !isReadOnly else { return }
        do throws(StoreError) { try probe(root.descriptor) } catch {
            problem = error.text
        }
    }

    private mutating func probe(_ folder: borrowing FileDescriptor) throws(StoreError) {
        let first = try Reservation.make(.file, in: folder)
        let (firstName, secondName) = (first.name.bytes, ReservedName.random().bytes)
        defer {
            try? folder.unlink(firstName)
            try? folder.unlink(secondName)
        }
        let second = try Reservation.make(.file, in: folder)
        let otherName = second.name.bytes
        defer { try? folder.unlink(otherName) }
        note(.unnamedFiles) { () throws(SystemError) in _ = try folder.openUnnamed(permissions: 0o600) }
        note(.attributes) { () throws(SystemError) in try first.file.tryAttribute("user.davit") }
        note(.exchange) { () throws(SystemError) in try folder.exchange(firstName, with: folder, otherName) }
        note(.exclusiveRename) { () throws(SystemError) in
            try folder.rename(otherName, to: folder, asFree: secondName)
        }
        note(.sync) { () throws(SystemError) in
            try first.file.sync()
            try folder.open([UInt8(ascii: ".")], for: .entries).sync()
        }
        note(.locks) { () throws(SystemError) in _ = try first.file.tryLock() }
        let upper = firstName.map { (97...122).contains($0) ? $0 - 32 : $0 }
        ignoresCase = (try? folder.status(of: upper)) != nil
    }

    /// Records a missing feature if the volume does not support a call. Other errors, such as a full volume, do not show whether
    /// it does.
    private mutating func note(_ feature: Feature, _ call: () throws(SystemError) -> Void) {
        do throws(SystemError) { try call() } catch {
            if error.isUnsupported || error.code == .isDirectory { missing.insert(feature) }
        }
    }
}

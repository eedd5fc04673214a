internal import DavitStore
internal import DavitSystem

/// A new file or directory under a reserved name, locked as long as ``file`` is open so that no sweep removes
/// it.
struct Reservation: ~Copyable, Sendable {
    let name: ReservedName
    /// A file open for reading and writing, or a directory open for its entries.
    let file: FileDescriptor
    /// The metadata of the new file or directory.
    let status: FileStatus

    private init(name: ReservedName, file: consuming FileDescriptor, status: FileStatus) {
        self.name = name
        self.file = file
        self.status = status
    }

    consuming func takeFile() -> FileDescriptor { file }

    /// Opens the same directory with an independent read position.
    borrowing func openAgain() throws(StoreError) -> FileDescriptor {
        try storing { () throws(SystemError) in try file.open([UInt8(ascii: ".")], for: .entries) }
    }

    enum Kind { case file, directory }

    /// - Parameter permissions: for directories; the default denies access to other users while a copy is
    ///   being written. A file is always created without access for others.
    /// - Throws: `missingAncestor` if `directory` was removed, `outOfSpace`, `forbidden`, `busy`.
    static func make(
        _ kind: Kind, in directory: borrowing FileDescriptor, permissions: UInt32 = 0o700
    ) throws(StoreError) -> Reservation {
        // A sweep can remove the file between its creation and the lock, but not eight times in a row in
        // practice.
        for _ in 0..<8 {
            let name = ReservedName.random()
            do throws(SystemError) {
                let file: FileDescriptor
                switch kind {
                case .file:
                    file = try directory.open(name.bytes, for: .newContent, permissions: 0o600)
                case .directory:
                    try directory.makeDirectory(name.bytes, mode: permissions)
                    file = try directory.open(name.bytes, for: .entries)
                }
                guard file.tryLockIfPossible() else { continue }
                let status = try file.status()
                // The name is unique, so a file that still has a name has this one. The link count of a
                // directory does not show whether it has a name.
                let isNamed =
                    kind == .file
                    ? status.linkCount > 0
                    : try directory.status(of: name.bytes).identity == status.identity
                if isNamed { return Reservation(name: name, file: file, status: status) }
            } catch {
                if error.code == .noEntry, (try? directory.status()).map({ $0.linkCount > 0 }) == true {
                    continue
                }
                // Remove the file or directory if it was created; no other one has this name.
                _ =
                    kind == .file
                    ? try? directory.unlink(name.bytes) : try? directory.removeDirectory(name.bytes)
                throw StoreError(error, absent: .missingAncestor)
            }
        }
        throw .busy
    }
}

extension FileDescriptor {
    /// Returns false only if the lock is already held, for example by a sweep. On volumes without locks,
    /// sweeps remove neither files nor directories.
    borrowing func tryLockIfPossible() -> Bool { (try? tryLock()) ?? true }
}

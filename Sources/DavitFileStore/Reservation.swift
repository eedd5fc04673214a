internal import DavitStore
internal import DavitSystem

/// Something new under a reserved name, locked for as long as this lives, so that no sweep takes it away.
struct Reservation: ~Copyable, Sendable {
    let name: ReservedName
    /// A file open for reading and writing, or a directory open for its entries.
    let file: FileDescriptor

    private init(name: ReservedName, file: consuming FileDescriptor) {
        self.name = name
        self.file = file
    }

    consuming func takeFile() -> FileDescriptor { file }

    /// The same directory with a position of its own.
    borrowing func openAgain() throws(StoreError) -> FileDescriptor {
        try storing { () throws(SystemError) in try file.open([UInt8(ascii: ".")], for: .entries) }
    }

    enum Kind { case file, directory }

    /// - Parameter permissions: of a directory; nobody else looks into one that is being filled.
    /// - Throws: `missingAncestor` if `directory` is gone, `outOfSpace`, `forbidden`, `busy`.
    static func make(
        _ kind: Kind, in directory: borrowing FileDescriptor, permissions: UInt32 = 0o700
    ) throws(StoreError) -> Reservation {
        // A sweep may come between creating and locking, and take the name away; not eight times.
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
                if try directory.status(of: name.bytes).identity == file.status().identity {
                    return Reservation(name: name, file: file)
                }
            } catch {
                if error.code == .noEntry, (try? directory.status()).map({ $0.linkCount > 0 }) == true {
                    continue
                }
                // What may have been made; the name is nobody else's.
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
    /// False only if somebody else has the lock: on volumes without locks nobody sweeps.
    borrowing func tryLockIfPossible() -> Bool { (try? tryLock()) ?? true }
}

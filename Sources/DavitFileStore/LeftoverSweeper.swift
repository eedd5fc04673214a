internal import DavitStore
internal import DavitSystem

/// Removes what crashed changes have left behind in a folder.
///
/// What has a reserved name and is not locked is a leftover, unless it is an upload that waits for its next request, which
/// only the server that owns the state of the share knows. So nobody else has a sweeper.
final class LeftoverSweeper: Sendable {
    let share: SharedFolder
    /// Whether a reserved name is that of an upload.
    private let isUpload: @Sendable ([UInt8]) -> Bool

    init(_ share: SharedFolder, keeping isUpload: @escaping @Sendable ([UInt8]) -> Bool) {
        self.share = share
        self.isUpload = isUpload
    }

    private func isKept(_ name: ReservedName) -> Bool { share.isInUse(name) || isUpload(name.bytes) }

    /// Removes what stands under a reserved name, unless somebody uses it.
    ///
    /// Who uses it holds its lock, took the lock before the name mattered, and checked afterwards that the
    /// name still was its own: so a removal at any moment is harmless.
    ///
    /// - Parameter budget: how many files may still be removed; the rest stays for another time.
    func remove(
        _ name: ReservedName, in directory: borrowing FileDescriptor, budget: inout Int
    ) {
        guard budget > 0, name != .trash, !isKept(name), let status = try? directory.status(of: name.bytes)
        else { return }
        let mode: OpenMode
        switch status.kind {
        case .regular: mode = .content
        case .directory: mode = .entries
        case .symbolicLink, .special:
            // What a replaced link leaves behind; links cannot be locked, nor can anybody be using one.
            budget -= 1
            try? directory.unlink(name.bytes)
            return
        }
        guard let file = try? directory.open(name.bytes, for: mode), (try? file.tryLock()) == true,
            let locked = try? file.status(), let named = try? directory.status(of: name.bytes),
            locked.identity == named.identity,
            // It may have become an upload's, whose record is there before the lock is gone.
            !isKept(name)
        else { return }
        var removal = TreeRemoval(isOurs: true, budget: budget)
        removal.remove(name.bytes, in: directory)
        budget = removal.budget
    }
}

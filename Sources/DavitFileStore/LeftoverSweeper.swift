internal import DavitStore
internal import DavitSystem

/// Removes the leftovers of crashed changes from folders.
///
/// An unlocked resource with a reserved name is a leftover, unless it is an upload that waits for its next
/// request. Only the server that owns the state of the share knows the uploads, so only it creates a sweeper.
final class LeftoverSweeper: Sendable {
    let share: SharedFolder
    /// Whether a reserved name belongs to an upload.
    private let isUpload: @Sendable ([UInt8]) -> Bool

    init(_ share: SharedFolder, keeping isUpload: @escaping @Sendable ([UInt8]) -> Bool) {
        self.share = share
        self.isUpload = isUpload
    }

    private func isKept(_ name: ReservedName) -> Bool { share.isInUse(name) || isUpload(name.bytes) }

    /// Removes the resource under a reserved name, unless it is in use or an upload.
    ///
    /// An unlocked resource can be removed at any time: a change locks a resource before it gives it a
    /// reserved name, or checks after locking that the name still refers to the same file, and holds the lock
    /// as long as it relies on the name.
    ///
    /// - Parameter budget: the number of files that may still be removed; the rest is left for a later call.
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
            // A link that was replaced before a crash. Links cannot be locked; those in use were excluded
            // above.
            budget -= 1
            try? directory.unlink(name.bytes)
            return
        }
        guard let file = try? directory.open(name.bytes, for: mode), (try? file.tryLock()) == true,
            let locked = try? file.status(), let named = try? directory.status(of: name.bytes),
            locked.identity == named.identity,
            // The file may have become an upload in the meantime; the upload's record is stored before the
            // lock is released.
            !isKept(name)
        else { return }
        var removal = TreeRemoval(isOurs: true, budget: budget)
        removal.remove(name.bytes, in: directory)
        budget = removal.budget
    }
}

internal import DavitStore
internal import DavitSystem

/// An incremental traversal of the share that removes leftovers of crashed changes. Does not follow links.
/// Used by one thread at a time.
///
/// If the current folder is moved during the traversal, the traversal ends; later listings find the remaining
/// leftovers.
final class LeftoverScan {
    /// The maximum number of files that one step removes.
    private static let budget = 64

    private let sweeper: LeftoverSweeper
    private var position: DirectoryPosition
    private var block = DirectoryBlock(capacity: 1 << 15)
    /// For each folder on the current path, its subfolders that are still to be visited.
    private var pending: [[[UInt8]]] = [[]]
    private var leftovers: [ReservedName] = []
    private var isReading = true
    /// Whether the current folder is a trash, whose subfolders are removed resources and are not visited.
    private var isInTrash = false

    init?(_ sweeper: LeftoverSweeper) {
        guard let root = try? sweeper.share.directory.open([], for: .entries, mayWait: true),
            let position = try? DirectoryPosition(at: root)
        else { return nil }
        self.sweeper = sweeper
        self.position = position
    }

    /// Reads one block of entries, removes one leftover or part of it, or enters or leaves a folder.
    ///
    /// - Returns: false when the traversal has ended.
    func step() -> Bool {
        if isReading {
            readBlock()
            return true
        }
        if let name = leftovers.popLast() {
            var budget = Self.budget
            sweeper.remove(name, in: position.directory, budget: &budget)
            if budget == 0 { leftovers.append(name) }
            return true
        }
        if let name = pending[pending.count - 1].popLast() {
            // Skip folders that cannot be read.
            if (try? position.enter(name)) != nil {
                pending.append([])
                block = DirectoryBlock(capacity: 1 << 15)
                isReading = true
                isInTrash = name == ReservedName.trash.bytes
            }
            return true
        }
        pending.removeLast()
        guard !pending.isEmpty else { return false }
        return (try? position.leave()) != nil
    }

    private func readBlock() {
        isReading = (try? block.read(from: position.directory)) ?? false
        guard isReading else { return }
        while block.advance() {
            let entry = block.entry
            if entry.startsWithDot, let name = ReservedName(entry.bytes) {
                if name == .trash {
                    pending[pending.count - 1].append(name.bytes)
                } else {
                    leftovers.append(name)
                }
            } else if isInTrash {
                continue
            } else if entry.kind == .directory {
                pending[pending.count - 1].append(entry.bytes)
            } else if entry.kind == .unknown {
                let name = entry.bytes
                let kind = (try? position.directory.status(of: name))?.kind
                if kind == .directory { pending[pending.count - 1].append(name) }
            }
        }
    }
}

extension FileResourceStore {
    /// Removes the leftovers of the entire share. Traverses all folders: call it on a low-priority thread
    /// after the server is ready. Does nothing before ``keepUploads(where:)``.
    ///
    /// - Parameter isCancelled: called between steps.
    public func sweepLeftovers(isCancelled: () -> Bool) {
        guard let sweeper, let sweep = LeftoverScan(sweeper) else { return }
        while !isCancelled(), sweep.step() {}
    }
}

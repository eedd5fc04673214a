internal import DavitStore
internal import DavitSystem

/// Measures how many levels a folder has below it. Neither depth nor size matter: one descriptor, and the names of the
/// folders that are still to be visited. Links are not followed.
///
/// `@unchecked`: one task at a time uses it, as ``HeightMeasurement`` asks.
final class TreeHeight: HeightMeasurement, @unchecked Sendable {
    /// Folders and blocks of entries that one call reads at most: some milliseconds.
    private static let pieceSteps = 256

    private let limit: Int
    private var position: DirectoryPosition
    private var block = DirectoryBlock(capacity: 1 << 15)
    /// For each folder on the way down, the folders in it that are still to be visited.
    private var pending: [[[UInt8]]] = [[]]
    private var isReading = true
    private var height = 0

    /// - Parameters:
    ///   - directory: the top, open for its entries.
    ///   - limit: of the height that matters; a greater one is not measured to its end.
    init(of directory: consuming FileDescriptor, limit: Int) throws(SystemError) {
        position = try DirectoryPosition(at: directory)
        self.limit = limit
    }

    func advance() throws(StoreError) -> Int? {
        do throws(SystemError) {
            for _ in 0..<Self.pieceSteps {
                if isReading {
                    try readBlock()
                    if height > limit { return height }
                } else if let name = pending[pending.count - 1].popLast() {
                    enter(name)
                } else {
                    pending.removeLast()
                    if pending.isEmpty { return height }
                    try position.leave()
                }
            }
            return nil
        } catch {
            throw StoreError(error)
        }
    }

    private func readBlock() throws(SystemError) {
        guard try block.read(from: position.directory) else {
            isReading = false
            return
        }
        while block.advance() {
            if block.entry.startsWithDot, ReservedName(block.entry.bytes) != nil { continue }
            height = max(height, pending.count)
            if isFolder(block.entry) { pending[pending.count - 1].append(block.entry.bytes) }
        }
    }

    private func isFolder(_ entry: borrowing DirectoryEntry) -> Bool {
        switch entry.kind {
        case .directory: true
        case .unknown: (try? position.directory.status(of: entry))?.kind == .directory
        case .regular, .symbolicLink, .special: false
        }
    }

    /// What cannot be read has no members for clients either.
    private func enter(_ name: [UInt8]) {
        guard (try? position.enter(name)) != nil else { return }
        pending.append([])
        isReading = true
    }
}

/// Content, or a link: it has no members.
final class NoHeight: HeightMeasurement {
    func advance() throws(StoreError) -> Int? { 0 }
}

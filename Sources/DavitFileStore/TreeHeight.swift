internal import DavitHTTP
internal import DavitStore
internal import DavitSystem

/// Measures the number of levels below a folder. Works for any depth and size with one descriptor and the
/// names of the folders that are still to be visited. Does not follow links.
final class TreeHeight: HeightMeasurement {
    private let traversal: Exclusive<HeightTraversal>

    /// - Parameters:
    ///   - directory: the top of the tree, open for its entries.
    ///   - limit: the height above which the measurement stops.
    init(of directory: consuming FileDescriptor, limit: Int) throws(SystemError) {
        traversal = Exclusive(HeightTraversal(try DirectoryPosition(at: directory), limit: limit))
    }

    func advance() throws(StoreError) -> Int? {
        try traversal.withValue { traversal throws(StoreError) in try traversal.advance() }
    }
}

private struct HeightTraversal: ~Copyable {
    /// The maximum number of steps per call, each of which reads a directory block or enters or leaves a
    /// folder; a call then takes a few milliseconds.
    private static let pieceSteps = 256

    private let limit: Int
    private var position: DirectoryPosition
    private var block = DirectoryBlock(capacity: 1 << 15)
    /// For each folder on the current path, its subfolders that are still to be visited.
    private var pending: [[[UInt8]]] = [[]]
    private var isReading = true
    private var height = 0

    init(_ position: consuming DirectoryPosition, limit: Int) {
        self.position = position
        self.limit = limit
    }

    mutating func advance() throws(StoreError) -> Int? {
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

    private mutating func readBlock() throws(SystemError) {
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

    /// Enters a folder, unless it is unreadable: clients cannot see its members either.
    private mutating func enter(_ name: [UInt8]) {
        guard (try? position.enter(name)) != nil else { return }
        pending.append([])
        isReading = true
    }
}

/// The measurement of content or a link, which have no members.
final class ZeroHeight: HeightMeasurement {
    func advance() throws(StoreError) -> Int? { 0 }
}

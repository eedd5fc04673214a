internal import DavitStore
internal import DavitSystem

/// Adds up the bytes of content in a tree. Works for any depth and size with one descriptor and the names of
/// the folders that are still to be visited. Does not follow links.
struct TreeSize {
    private(set) var bytes: Int64 = 0
    /// For each folder on the current path, its subfolders that are still to be visited.
    private var pending: [[[UInt8]]] = []

    /// - Parameter directory: the top of the tree, open for its entries.
    mutating func add(_ directory: consuming FileDescriptor) throws(SystemError) {
        var position = try DirectoryPosition(at: directory)
        pending = [try read(position.directory)]
        while !pending.isEmpty {
            if let name = pending[pending.count - 1].popLast() {
                // Unreadable folders count as 0.
                if (try? position.enter(name)) != nil {
                    pending.append((try? read(position.directory)) ?? [])
                }
            } else {
                pending.removeLast()
                if !pending.isEmpty { try position.leave() }
            }
        }
    }

    /// - Returns: the names of the subfolders.
    private mutating func read(_ directory: borrowing FileDescriptor) throws(SystemError) -> [[UInt8]] {
        var folders: [[UInt8]] = []
        var block = DirectoryBlock(capacity: 1 << 15)
        while try block.read(from: directory) {
            while block.advance() {
                LongWork.pause()
                guard let status = try? directory.status(of: block.entry) else { continue }
                switch status.kind {
                case .directory: folders.append(block.entry.bytes)
                case .regular: bytes = bytes.addingClamped(status.length)
                case .symbolicLink, .special: break
                }
            }
        }
        return folders
    }
}

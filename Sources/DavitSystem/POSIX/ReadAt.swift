extension FileDescriptor {
    /// Reads at `offset`, whatever the descriptor's position, and waits for a disk.
    /// - Returns: bytes read; 0 at the end.
    package borrowing func read(
        at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        switch unsafe CachedFile.read(rawValue, into: buffer, offset: offset) {
        case .bytes(let count): return count
        case .failed(let error): throw error
        default: return 0
        }
    }
}

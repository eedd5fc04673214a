extension FileDescriptor {
    /// Reads at `offset`, regardless of the current position; waits for the disk if necessary.
    /// - Returns: the number of bytes read; 0 at the end.
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

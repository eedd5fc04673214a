extension FileDescriptor {
    /// Copies `count` bytes, or fewer at the end of this file, between the current positions of this file and
    /// `target`.
    borrowing func copyThroughMemory(
        to target: borrowing FileDescriptor, count: Int64
    ) throws(SystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
        defer { unsafe buffer.deallocate() }
        var rest = count
        while rest > 0 {
            let free = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(rest, Int64(buffer.count)))])
            let filled = try unsafe read(into: free)
            if filled == 0 { return }
            try unsafe target.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
            rest -= Int64(filled)
            try LongWork.checkpoint(bytes: filled)
        }
    }
}

extension SystemError {
    /// Whether there is no room for the data: the volume is full, or the quota or the maximum file size is
    /// exceeded.
    package var isDiskFull: Bool {
        switch code {
        case .noSpace, .overQuota, .fileTooBig: true
        default: false
        }
    }
}

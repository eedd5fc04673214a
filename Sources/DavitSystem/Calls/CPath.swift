/// Calls `body` with `bytes` as a NUL-terminated string, which is on the stack unless it is long.
@inline(__always)
func withCPath<Result, Failure: Error>(
    _ bytes: some Collection<UInt8>, _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) {
        buffer throws(Failure) in
        let end = unsafe buffer.initialize(fromContentsOf: bytes)
        unsafe buffer[end] = 0
        return try unsafe buffer.withMemoryRebound(to: CChar.self) { text throws(Failure) in
            // Never nil: the capacity is at least 1.
            guard let start = text.baseAddress else { fatalError("a temporary allocation has no address") }
            return try unsafe body(UnsafePointer(start))
        }
    }
}

internal import CZlib

/// How far one call of a transform got.
public struct Progress: Hashable, Sendable {
    /// Bytes of the input that were taken; the rest is to be offered again.
    public var consumed = 0
    /// Bytes that were written to the output.
    public var produced = 0
    /// The stream has come to its end, and all of it is out.
    public var isAtEnd = false

    public init(consumed: Int = 0, produced: Int = 0, isAtEnd: Bool = false) {
        self.consumed = consumed
        self.produced = produced
        self.isAtEnd = isAtEnd
    }
}

/// zlib has no memory for a stream.
public struct OutOfMemory: Error, Hashable, Sendable {}

extension UnsafeMutablePointer<z_stream> {
    /// A stream in memory of its own: zlib keeps a pointer back to it, so that it must not move.
    static func make(_ begin: (Self) -> Int32) throws(OutOfMemory) -> Self {
        let stream = allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe begin(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw OutOfMemory()
        }
        return unsafe stream
    }

    /// One call of zlib between these two pieces of memory.
    func step(
        from input: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer,
        _ call: (Self) -> Int32
    ) -> (status: Int32, consumed: Int, produced: Int) {
        let offered = uInt(clamping: input.count)
        let room = uInt(clamping: output.count)
        unsafe pointee.next_in = input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe pointee.avail_in = offered
        unsafe pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe pointee.avail_out = room
        let status = unsafe call(self)
        return unsafe (status, Int(offered - pointee.avail_in), Int(room - pointee.avail_out))
    }
}

internal import CZlib

/// The result of one call of a transform.
public struct TransformProgress: Hashable, Sendable {
    /// The number of input bytes consumed; the rest must be passed again.
    public var consumed = 0
    /// The number of bytes written to the output.
    public var produced = 0
    /// Whether the stream has ended and all output was written. In gzip, another member may follow.
    public var isAtEnd = false

    public init(consumed: Int = 0, produced: Int = 0, isAtEnd: Bool = false) {
        self.consumed = consumed
        self.produced = produced
        self.isAtEnd = isAtEnd
    }
}

/// The error if zlib could not allocate memory for a stream.
public struct OutOfMemory: Error, Hashable, Sendable {}

extension UnsafeMutablePointer<z_stream> {
    /// Allocates a stream on the heap: zlib keeps a pointer to it, so it must not move.
    static func make(_ begin: (Self) -> Int32) throws(OutOfMemory) -> Self {
        let stream = allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe begin(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw OutOfMemory()
        }
        return unsafe stream
    }

    /// Calls zlib once with these input and output buffers.
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

/// Memory of fixed size that bytes are read into and written from.
///
/// One owner at a time: it may be handed to another thread, which then is the owner until it gives it back.
/// That hand-over is what makes the unchecked conformance true.
@safe public final class IOBuffer: @unchecked Sendable {
    /// Bytes there is memory for.
    public let capacity: Int
    @safe @exclusivity(unchecked) @usableFromInline var filled = 0
    @usableFromInline let storage: UnsafeMutableRawPointer

    /// Bytes `0..<count` are valid.
    @inlinable public var count: Int {
        get { filled }
        set { filled = newValue }
    }

    /// Allocates `capacity` bytes.
    public init(capacity: Int) {
        self.capacity = capacity
        unsafe storage = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
    }

    deinit { unsafe storage.deallocate() }

    /// Bytes that can still be appended.
    @inlinable public var freeCount: Int { capacity - count }

    /// The valid bytes.
    @inlinable public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E)
        -> R
    {
        try unsafe body(UnsafeRawBufferPointer(start: storage, count: count))
    }

    /// The free part behind the valid bytes; `body` returns how many bytes it filled.
    @inlinable public func fill<E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int) throws(E)
        -> Int
    {
        let free = unsafe UnsafeMutableRawBufferPointer(start: storage + count, count: capacity - count)
        let filled = try unsafe body(free)
        count += min(max(filled, 0), capacity - count)
        return filled
    }

    /// Appends as much of `bytes` as fits, and returns how much that was.
    @inlinable public func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, capacity - count)
        if taken > 0, let source = bytes.baseAddress {
            unsafe (storage + count).copyMemory(from: source, byteCount: taken)
            count += taken
        }
        return taken
    }

    /// Appends as much of `bytes` as fits, and returns how much that was.
    public func append(_ bytes: [UInt8]) -> Int { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    /// Forgets the valid bytes; the memory stays.
    public func removeAll() { count = 0 }

    /// Drops bytes at the start; what is behind them moves there.
    public func removeFirst(_ dropped: Int) {
        let dropped = min(max(dropped, 0), count)
        count -= dropped
        if dropped > 0, count > 0 {
            unsafe storage.copyMemory(from: storage + dropped, byteCount: count)
        }
    }
}

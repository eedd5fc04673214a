/// A fixed-size memory buffer for I/O.
///
/// `@unchecked Sendable` because it has one owner at a time: it may be passed to another thread, which owns
/// it until it passes it back.
@safe public final class IOBuffer: @unchecked Sendable {
    /// The size of the buffer in bytes.
    public let capacity: Int
    @safe @exclusivity(unchecked) @usableFromInline var filled = 0
    @usableFromInline let storage: UnsafeMutableRawPointer

    /// The number of valid bytes, which are at the start of the buffer, from 0 to ``capacity``.
    @inlinable public var count: Int { filled }

    /// Allocates a buffer of `capacity` bytes; traps if `capacity` is negative.
    public init(capacity: Int) {
        precondition(capacity >= 0, "the capacity must not be negative")
        self.capacity = capacity
        // Large buffers are aligned to cache lines. For small ones, the default alignment is enough, and costs less.
        unsafe storage = UnsafeMutableRawPointer.allocate(
            byteCount: capacity, alignment: capacity < 16 * 1024 ? 16 : 64)
    }

    deinit { unsafe storage.deallocate() }

    /// The number of bytes that can still be appended.
    @inlinable public var freeCount: Int { capacity - count }

    /// Calls `body` with the valid bytes.
    @inlinable public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E)
        -> R
    {
        try unsafe body(UnsafeRawBufferPointer(start: storage, count: count))
    }

    /// Calls `body` with the free space after the valid bytes; `body` returns the number of bytes that it has
    /// written, which is also the result.
    @inlinable public func fill<E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int) throws(E)
        -> Int
    {
        let free = unsafe UnsafeMutableRawBufferPointer(start: storage + count, count: capacity - count)
        let written = try unsafe body(free)
        filled += min(max(written, 0), capacity - filled)
        return written
    }

    /// Appends as much of `bytes` as fits and returns the number of bytes appended.
    @inlinable public func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, capacity - count)
        if taken > 0, let source = bytes.baseAddress {
            unsafe (storage + count).copyMemory(from: source, byteCount: taken)
            filled += taken
        }
        return taken
    }

    /// Appends as much of `bytes` as fits and returns the number of bytes appended.
    public func append(_ bytes: [UInt8]) -> Int { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    /// Discards the valid bytes; keeps the memory.
    public func removeAll() { filled = 0 }

    /// Discards all but the first `count` valid bytes; has no effect if there are at most `count`.
    public func truncate(to count: Int) { filled = min(max(count, 0), filled) }

    /// Removes the first `dropped` bytes and moves the remaining ones to the start of the buffer.
    public func removeFirst(_ dropped: Int) {
        let dropped = min(max(dropped, 0), count)
        filled -= dropped
        if dropped > 0, count > 0 {
            unsafe storage.copyMemory(from: storage + dropped, byteCount: count)
        }
    }
}

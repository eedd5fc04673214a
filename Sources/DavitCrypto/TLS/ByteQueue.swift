/// A first-in, first-out queue of bytes. Grows as needed; the caller must limit its size.
@safe package struct ByteQueue: ~Copyable {
    private var storage: UnsafeMutableRawPointer?
    private var capacity = 0
    /// The queued bytes are at `start..<end`; both are 0 if the queue is empty.
    private var start = 0
    private var end = 0

    package init() { unsafe storage = nil }

    deinit { unsafe storage?.deallocate() }

    package var count: Int { end - start }
    package var isEmpty: Bool { start == end }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        let free = unsafe reserve(bytes.count)
        unsafe free.copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    /// Lets `body` write into at least `least` bytes of free space; `body` returns the number of bytes
    /// written.
    package mutating func fill<E: Error>(
        atLeast least: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) -> Int {
        let free = unsafe reserve(max(least, 1))
        let room = capacity - end
        let filled = try unsafe body(UnsafeMutableRawBufferPointer(start: free, count: room))
        end += min(max(filled, 0), room)
        return filled
    }

    /// Moves as many bytes as fit into `destination` and returns their number.
    package mutating func take(into destination: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(count, destination.count)
        guard taken > 0, let target = destination.baseAddress, let storage = unsafe storage else { return 0 }
        unsafe target.copyMemory(from: storage + start, byteCount: taken)
        removeFirst(taken)
        return taken
    }

    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let first = unsafe storage.map { unsafe UnsafeRawPointer($0 + start) }
        return try unsafe body(UnsafeRawBufferPointer(start: first, count: count))
    }

    package mutating func removeFirst(_ removed: Int) {
        start += min(max(removed, 0), count)
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Releases the memory if the queue is empty.
    package mutating func releaseMemory() {
        guard isEmpty else { return }
        unsafe storage?.deallocate()
        unsafe storage = nil
        capacity = 0
    }

    /// Ensures space for `needed` bytes after the end, and returns its address.
    private mutating func reserve(_ needed: Int) -> UnsafeMutableRawPointer {
        if let storage = unsafe storage, capacity - end >= needed { return unsafe storage + end }
        let held = count
        if let storage = unsafe storage, capacity - held >= needed {
            unsafe storage.copyMemory(from: storage + start, byteCount: held)
            start = 0
            end = held
            return unsafe storage + held
        }
        let size = max(held + needed, capacity * 2, Self.leastCapacity)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        if let storage = unsafe storage {
            unsafe moved.copyMemory(from: storage + start, byteCount: held)
            unsafe storage.deallocate()
        }
        unsafe storage = moved
        capacity = size
        start = 0
        end = held
        return unsafe moved + held
    }

    private static let leastCapacity = 2048
}

/// A buffer of received bytes that have not been consumed yet.
@safe final class InputBuffer {
    static let usualCapacity = 16 * 1024

    private(set) var capacity: Int
    private var storage: UnsafeMutableRawPointer
    private var start = 0
    private var end = 0

    init() {
        capacity = Self.usualCapacity
        unsafe storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { unsafe storage.deallocate() }

    var count: Int { end - start }
    var isEmpty: Bool { start == end }

    /// Calls `body` with the unread bytes, which are valid until the buffer changes.
    func withUnread<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: storage + start, count: end - start))
    }

    func consume(_ count: Int) {
        start += min(max(0, count), end - start)
        if start == end { removeAll() }
    }

    func removeAll() {
        start = 0
        end = 0
    }

    /// Passes free space of at least one byte to `body`, which appends bytes there and returns how many it
    /// wrote.
    func fill(_ body: (UnsafeMutableRawBufferPointer) -> Int) {
        if end == capacity { makeRoom() }
        let room = unsafe UnsafeMutableRawBufferPointer(start: storage + end, count: capacity - end)
        end += min(max(0, unsafe body(room)), capacity - end)
    }

    /// Appends bytes that were received into another buffer.
    func append(_ bytes: UnsafeRawBufferPointer) {
        var taken = 0
        while taken < bytes.count {
            unsafe fill { room in
                let count = min(room.count, bytes.count - taken)
                unsafe room.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[taken..<(taken + count)]))
                taken += count
                return count
            }
        }
    }

    /// Moves the bytes to the start, or doubles the capacity if they fill it. The callers limit the number of
    /// bytes: heads have a size limit, and so does the number of bytes received after a chunk in one call.
    private func makeRoom() {
        if start > 0 {
            unsafe storage.copyMemory(from: storage + start, byteCount: end - start)
        } else {
            let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 16)
            unsafe larger.copyMemory(from: storage, byteCount: end)
            unsafe storage.deallocate()
            unsafe storage = larger
            capacity *= 2
        }
        end -= start
        start = 0
    }
}

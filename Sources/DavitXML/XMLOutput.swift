internal import CXML2

/// An output buffer for XML, drained by the caller.
///
/// Markup and values that need no escaping are copied into the buffer directly. libxml2 escapes text and
/// serializes elements, through an output buffer whose write callback appends to this buffer. The only
/// possible failure is lack of memory, which terminates the process. Used by one task at a time.
@safe public final class XMLOutput {
    /// The buffer; the bytes `taken..<end` have been written and not yet taken.
    // Used by one task at a time; dynamic exclusivity checks took a tenth of the time of a listing.
    @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
    @safe @exclusivity(unchecked) private var capacity = 2048
    @safe @exclusivity(unchecked) private var end = 0
    @safe @exclusivity(unchecked) private var taken = 0
    /// libxml2's output buffer; created on first use.
    @exclusivity(unchecked) private var handle: xmlOutputBufferPtr?

    public init() {
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        if let handle = unsafe handle { unsafe xmlOutputBufferClose(handle) }
        unsafe memory.deallocate()
    }

    /// Writes constant markup unchanged.
    public func markup(_ text: StaticString) {
        unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text that needs no escaping: percent-encoded paths, digits, dates, stored elements.
    public func bytes(_ text: [UInt8]) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    public func bytes(_ text: ArraySlice<UInt8>) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    /// Lets `body` write text that needs no escaping directly into the buffer.
    /// - Parameters:
    ///   - limit: the maximum number of bytes that `body` writes.
    ///   - body: returns the number of bytes written.
    package func bytes(limit: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        let place = unsafe room(for: limit)
        let count = unsafe body(UnsafeMutableRawBufferPointer(start: place, count: limit))
        end -= limit - min(max(count, 0), limit)
    }

    /// Writes one byte unchanged.
    public func byte(_ byte: UInt8) {
        let place = unsafe room(for: 1)
        unsafe place.storeBytes(of: byte, as: UInt8.self)
    }

    /// Writes a number in decimal digits.
    public func number(_ value: Int64) {
        let length = Self.length(of: value)
        unsafe Self.write(value, length, at: room(for: length))
    }

    /// Writes a complete element with a start tag, text that needs no escaping, and an end tag; much cheaper
    /// than separate calls.
    /// - Parameter prefix: the prefix with its colon, or empty.
    public func element(_ prefix: StaticString, _ local: StaticString, bytes text: [UInt8]) {
        unsafe text.withUnsafeBytes { text in unsafe element(prefix, local, text) }
    }

    /// Writes a complete element with constant markup as its content.
    public func element(_ prefix: StaticString, _ local: StaticString, markup: StaticString) {
        unsafe element(
            prefix, local,
            UnsafeRawBufferPointer(start: markup.utf8Start, count: markup.utf8CodeUnitCount))
    }

    /// Writes a complete element with a number in decimal digits.
    public func element(_ prefix: StaticString, _ local: StaticString, number: Int64) {
        let length = Self.length(of: number)
        unsafe element(prefix, local, limit: length) { place in
            unsafe Self.write(number, length, at: place)
            return length
        }
    }

    /// Writes a complete element whose text `body` writes; it needs no escaping.
    /// - Parameters:
    ///   - limit: the maximum number of bytes that `body` writes.
    ///   - body: returns the number of bytes written.
    package func element(
        _ prefix: StaticString, _ local: StaticString, limit: Int,
        _ body: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        unsafe element(prefix, local, limit: limit) { place in
            let count = unsafe body(UnsafeMutableRawBufferPointer(start: place, count: limit))
            return min(max(count, 0), limit)
        }
    }

    private func element(_ prefix: StaticString, _ local: StaticString, _ text: UnsafeRawBufferPointer) {
        unsafe element(prefix, local, limit: text.count) { place in
            if let start = text.baseAddress {
                unsafe place.copyMemory(from: start, byteCount: text.count)
            }
            return text.count
        }
    }

    /// - Parameter content: writes at most `limit` bytes, and returns their number.
    @inline(__always)
    private func element(
        _ prefix: StaticString, _ local: StaticString, limit: Int, content: (UnsafeMutableRawPointer) -> Int
    ) {
        // The 5 bytes of `<`, `>`, `</` and `>`.
        let nameLength = prefix.utf8CodeUnitCount + local.utf8CodeUnitCount
        var place = unsafe room(for: 2 * nameLength + limit + 5)
        func put(_ byte: UInt8) {
            unsafe place.storeBytes(of: byte, as: UInt8.self)
            unsafe place += 1
        }
        put(UInt8(ascii: "<"))
        let name = unsafe place
        // A prefix usually has two bytes, for which a call of memcpy is too expensive.
        for index in 0..<prefix.utf8CodeUnitCount { unsafe put(prefix.utf8Start[index]) }
        unsafe place.copyMemory(from: local.utf8Start, byteCount: local.utf8CodeUnitCount)
        unsafe place += local.utf8CodeUnitCount
        put(UInt8(ascii: ">"))
        let length = unsafe content(place)
        end -= limit - length
        unsafe place += length
        put(UInt8(ascii: "<"))
        put(UInt8(ascii: "/"))
        unsafe place.copyMemory(from: name, byteCount: nameLength)
        unsafe place += nameLength
        put(UInt8(ascii: ">"))
    }

    /// Returns the number of characters in a decimal number.
    private static func length(of value: Int64) -> Int {
        var rest = value.magnitude
        var length = value < 0 ? 2 : 1
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        return length
    }

    private static func write(_ value: Int64, _ length: Int, at place: UnsafeMutableRawPointer) {
        if value < 0 { unsafe place.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
        var rest = value.magnitude
        var offset = length
        repeat {
            offset -= 1
            unsafe place.storeBytes(
                of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: offset, as: UInt8.self)
            rest /= 10
        } while rest > 0
    }

    /// The number of bytes written and not yet taken.
    public var count: Int { end - taken }

    /// Reserves capacity for `byteCount` more bytes.
    public func reserve(_ byteCount: Int) {
        if byteCount > capacity - end { grow(by: byteCount, doubles: false) }
    }

    /// Returns and removes all bytes that have not been taken yet.
    public func drain() -> [UInt8] {
        let drained = unsafe [UInt8](UnsafeRawBufferPointer(start: memory + taken, count: count))
        (taken, end) = (0, 0)
        return drained
    }

    /// Moves as many bytes as fit into `memory` and returns their number; the rest remains for the next call.
    public func take(into memory: UnsafeMutableRawBufferPointer) -> Int {
        let moved = min(memory.count, count)
        guard moved > 0 else { return 0 }
        unsafe memory.copyMemory(
            from: UnsafeRawBufferPointer(start: self.memory + taken, count: moved))
        taken += moved
        if taken == end {
            (taken, end) = (0, 0)
            if capacity > Self.keptCapacity { shrink() }
        }
        return moved
    }

    /// Runs `body`, which returns a libxml2 status code, with libxml2's buffer, and then moves the content of
    /// that buffer to this output.
    func withHandle(_ body: (xmlOutputBufferPtr) -> Int32) {
        let handle = unsafe self.handle ?? makeHandle()
        if unsafe body(handle) < 0 || xmlOutputBufferFlush(handle) < 0 { Self.failForMemory() }
    }

    private func makeHandle() -> xmlOutputBufferPtr {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let created = unsafe xmlOutputBufferCreateIO(
            { context, bytes, count in
                guard let context = unsafe context, let bytes = unsafe bytes else { return -1 }
                let output = unsafe Unmanaged<XMLOutput>.fromOpaque(context).takeUnretainedValue()
                unsafe output.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                return count
            }, nil, context, nil)
        guard let created = unsafe created else { Self.failForMemory() }
        unsafe handle = created
        return unsafe created
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        unsafe room(for: bytes.count).copyMemory(from: start, byteCount: bytes.count)
    }

    /// Returns the position for the next `count` bytes, which count as written.
    @inline(__always)
    private func room(for count: Int) -> UnsafeMutableRawPointer {
        if count > capacity - end { grow(by: count, doubles: true) }
        defer { end += count }
        return unsafe memory + end
    }

    /// The maximum capacity in bytes of a buffer that is reused; a larger one is released once
    /// ``take(into:)`` has emptied it.
    private static let keptCapacity = 512 << 10

    @inline(never)
    private func shrink() {
        unsafe memory.deallocate()
        capacity = 2048
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    @inline(never)
    private func grow(by count: Int, doubles: Bool) {
        let needed = self.count + count
        // If possible, reuse the space of taken bytes instead of growing.
        var target = unsafe memory
        if needed > (doubles ? capacity / 2 : capacity) {
            capacity = doubles ? max(2 * capacity, needed) : needed
            unsafe target = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        }
        unsafe target.copyMemory(from: memory + taken, byteCount: self.count)
        if unsafe target != memory {
            unsafe memory.deallocate()
            unsafe memory = target
        }
        (taken, end) = (0, end - taken)
    }

    private static func failForMemory() -> Never { fatalError("libxml2 is out of memory") }
}

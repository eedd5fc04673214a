internal import CXML2

/// An output buffer for XML, drained by the caller.
///
/// Markup and values that need no escaping are copied into the buffer directly. libxml2 escapes text and
/// serializes elements, through an output buffer whose write callback appends to this buffer. The only
/// possible failure is lack of memory, which terminates the process. Used by one task at a time.
@safe public final class XMLOutput {
    /// The buffer; the bytes `taken..<end` have been written and not yet taken.
    // Used by one task at a time; dynamic exclusivity checks took a tenth of the time of a listing.
    @usableFromInline @exclusivity(unchecked) var memory: UnsafeMutableRawPointer
    @safe @usableFromInline @exclusivity(unchecked) var capacity = 2048
    @safe @usableFromInline @exclusivity(unchecked) var end = 0
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

    // Methods that write constants are inlined, so that the compiler writes a literal with a few stores. A call of memcpy takes
    // several times as long, and a listing writes twenty literals for each member.

    /// Writes constant markup unchanged.
    @inlinable @inline(__always)
    public func markup(_ text: StaticString) {
        let place = unsafe room(for: text.utf8CodeUnitCount)
        unsafe Self.put(text, at: place)
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
        let place = unsafe room(for: Self.longestNumber)
        let length = unsafe write(value, at: place)
        end -= Self.longestNumber - length
    }

    /// Writes a complete element with a start tag, text that needs no escaping, and an end tag; much cheaper
    /// than separate calls.
    /// - Parameter prefix: the prefix with its colon, or empty.
    @inlinable @inline(__always)
    public func element(_ prefix: StaticString, _ local: StaticString, bytes text: [UInt8]) {
        unsafe element(prefix, local, limit: text.count) { place in
            unsafe text.withUnsafeBytes { text in
                if let start = text.baseAddress {
                    unsafe place.copyMemory(from: start, byteCount: text.count)
                }
                return text.count
            }
        }
    }

    /// Writes a complete element with constant markup as its content.
    @inlinable @inline(__always)
    public func element(_ prefix: StaticString, _ local: StaticString, markup: StaticString) {
        unsafe element(prefix, local, limit: markup.utf8CodeUnitCount) { place in
            unsafe Self.put(markup, at: place)
            return markup.utf8CodeUnitCount
        }
    }

    /// Writes a complete element with a number in decimal digits.
    @inlinable @inline(__always)
    public func element(_ prefix: StaticString, _ local: StaticString, number: Int64) {
        unsafe element(prefix, local, limit: Self.longestNumber) { unsafe write(number, at: $0) }
    }

    /// Writes a complete element whose text `body` writes; it needs no escaping.
    /// - Parameters:
    ///   - limit: the maximum number of bytes that `body` writes.
    ///   - body: returns the number of bytes written.
    @inlinable @inline(__always)
    package func element(
        _ prefix: StaticString, _ local: StaticString, limit: Int,
        _ body: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        unsafe element(prefix, local, limit: limit) { place in
            let count = unsafe body(UnsafeMutableRawBufferPointer(start: place, count: limit))
            return min(max(count, 0), limit)
        }
    }

    /// - Parameter content: writes at most `limit` bytes, and returns their number.
    @inlinable @inline(__always)
    func element(
        _ prefix: StaticString, _ local: StaticString, limit: Int, content: (UnsafeMutableRawPointer) -> Int
    ) {
        let nameLength = prefix.utf8CodeUnitCount + local.utf8CodeUnitCount
        var place = unsafe room(for: 2 * nameLength + limit + "<></>".utf8.count)
        func put(_ text: StaticString) {
            unsafe Self.put(text, at: place)
            unsafe place += text.utf8CodeUnitCount
        }
        put("<")
        put(prefix)
        put(local)
        put(">")
        let length = unsafe content(place)
        end -= limit - length
        unsafe place += length
        put("</")
        put(prefix)
        put(local)
        put(">")
    }

    @inlinable @inline(__always)
    static func put(_ text: StaticString, at place: UnsafeMutableRawPointer) {
        unsafe place.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
    }

    /// The maximum number of characters of a number.
    @inlinable static var longestNumber: Int { 20 }

    /// Writes a number in decimal digits.
    /// - Returns: the number of characters.
    // Not static, as ``isPlain(_:)-(Span<UInt8>)``.
    @usableFromInline
    func write(_ value: Int64, at place: UnsafeMutableRawPointer) -> Int {
        var length = value < 0 ? 2 : 1
        var rest = value.magnitude
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        if value < 0 { unsafe place.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self) }
        rest = value.magnitude
        var offset = length
        repeat {
            offset -= 1
            unsafe place.storeBytes(
                of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: offset, as: UInt8.self)
            rest /= 10
        } while rest > 0
        return length
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
    @inlinable @inline(__always)
    func room(for count: Int) -> UnsafeMutableRawPointer {
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

    @inline(never) @usableFromInline
    func grow(by count: Int, doubles: Bool) {
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

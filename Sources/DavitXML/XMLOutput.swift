internal import CXML2

/// Where XML is written: memory that the caller drains.
///
/// Markup and values that need no escaping are copied there at once. What needs libxml2, escaping and whole
/// elements, goes through one of its output buffers, whose write callback appends here. Nothing can fail but for
/// lack of memory, which ends the process. Belongs to one task at a time.
@safe public final class XMLOutput {
    /// Bytes `taken..<end` are written and not yet taken.
    // One task at a time writes: the checks for overlapping access were a tenth of a listing.
    @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
    @safe @exclusivity(unchecked) private var capacity = 2048
    @safe @exclusivity(unchecked) private var end = 0
    @safe @exclusivity(unchecked) private var taken = 0
    /// Made when it is first needed.
    @exclusivity(unchecked) private var handle: xmlOutputBufferPtr?

    public init() {
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        if let handle = unsafe handle { unsafe xmlOutputBufferClose(handle) }
        unsafe memory.deallocate()
    }

    /// Writes constant markup as it is.
    public func markup(_ text: StaticString) {
        unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text that is already safe in XML: percent-encoded paths, digits, dates, stored elements.
    public func bytes(_ text: [UInt8]) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    public func bytes(_ text: ArraySlice<UInt8>) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    /// Lets `body` write safe text at its place.
    /// - Parameters:
    ///   - limit: bytes that `body` writes at most.
    ///   - body: returns how many it has written.
    package func bytes(limit: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        let place = unsafe room(for: limit)
        let count = unsafe body(UnsafeMutableRawBufferPointer(start: place, count: limit))
        end -= limit - min(max(count, 0), limit)
    }

    /// Writes one byte that means nothing in XML.
    public func byte(_ byte: UInt8) {
        let place = unsafe room(for: 1)
        unsafe place.storeBytes(of: byte, as: UInt8.self)
    }

    /// Writes a number in decimal digits.
    public func number(_ value: Int64) {
        let length = Self.length(of: value)
        unsafe Self.write(value, length, at: room(for: length))
    }

    /// Writes a whole element, start tag, safe text and end tag; much cheaper than the pieces.
    /// - Parameter prefix: with its colon, or empty.
    public func element(_ prefix: StaticString, _ local: StaticString, bytes text: [UInt8]) {
        unsafe text.withUnsafeBytes { text in unsafe element(prefix, local, text) }
    }

    /// The same with constant markup inside.
    public func element(_ prefix: StaticString, _ local: StaticString, markup: StaticString) {
        unsafe element(
            prefix, local,
            UnsafeRawBufferPointer(start: markup.utf8Start, count: markup.utf8CodeUnitCount))
    }

    /// The same with a number in decimal digits.
    public func element(_ prefix: StaticString, _ local: StaticString, number: Int64) {
        let length = Self.length(of: number)
        unsafe element(prefix, local, length: length) { unsafe Self.write(number, length, at: $0) }
    }

    private func element(_ prefix: StaticString, _ local: StaticString, _ text: UnsafeRawBufferPointer) {
        unsafe element(prefix, local, length: text.count) { place in
            if let start = text.baseAddress {
                unsafe place.copyMemory(from: start, byteCount: text.count)
            }
        }
    }

    /// - Parameter content: writes exactly `length` bytes.
    @inline(__always)
    private func element(
        _ prefix: StaticString, _ local: StaticString, length: Int,
        content: (UnsafeMutableRawPointer) -> Void
    ) {
        // `<`, `>`, `</` and `>`.
        let nameLength = prefix.utf8CodeUnitCount + local.utf8CodeUnitCount
        var place = unsafe room(for: 2 * nameLength + length + 5)
        func put(_ byte: UInt8) {
            unsafe place.storeBytes(of: byte, as: UInt8.self)
            unsafe place += 1
        }
        func put(_ text: StaticString) {
            unsafe place.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
            unsafe place += text.utf8CodeUnitCount
        }
        put(UInt8(ascii: "<"))
        put(prefix)
        put(local)
        put(UInt8(ascii: ">"))
        unsafe content(place)
        unsafe place += length
        put(UInt8(ascii: "<"))
        put(UInt8(ascii: "/"))
        put(prefix)
        put(local)
        put(UInt8(ascii: ">"))
    }

    /// Bytes of a number in decimal digits.
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

    /// Bytes written and not yet taken.
    public var count: Int { end - taken }

    /// Makes room for so many more bytes at once, where it is known that they will come.
    public func reserve(_ byteCount: Int) {
        if byteCount > capacity - end { grow(by: byteCount, doubles: false) }
    }

    /// Everything that was written since the last call.
    public func drain() -> [UInt8] {
        let drained = unsafe [UInt8](UnsafeRawBufferPointer(start: memory + taken, count: count))
        (taken, end) = (0, 0)
        return drained
    }

    /// Moves as much as fits into `memory`, and returns how much that was; the rest stays for the next call.
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

    /// Runs `body` with libxml2's buffer; `body` returns libxml2's code. What is written to it is here afterwards.
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

    /// The place for the next `count` bytes, which count as written.
    @inline(__always)
    private func room(for count: Int) -> UnsafeMutableRawPointer {
        if count > capacity - end { grow(by: count, doubles: true) }
        defer { end += count }
        return unsafe memory + end
    }

    /// Bytes of memory that are kept for what is written next; more was for something unusually large.
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
        // What was taken makes room first, where that is most of it.
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

    private static func failForMemory() -> Never { fatalError("libxml2 has no memory left") }
}

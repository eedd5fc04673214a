internal import CXML2

/// Where XML is written: libxml2's output buffer over memory that the caller drains.
///
/// Markup and values that need no escaping are gathered and handed to libxml2 in one piece, because a call for
/// each costs more than the copy. Nothing can fail but for lack of memory, which ends the process. Belongs to
/// one task at a time.
@safe public final class XMLOutput {
    /// What libxml2's write callback appends to.
    private final class Sink {
        @safe @exclusivity(unchecked) var bytes: [UInt8] = []
        /// Bytes at the front that the caller already has.
        @safe @exclusivity(unchecked) var taken = 0
    }

    private let handle: xmlOutputBufferPtr
    private let sink: Sink
    private let batch: UnsafeMutableRawPointer
    // One task at a time writes: the checks for overlapping access were a tenth of a listing.
    @safe @exclusivity(unchecked) private var batchCount = 0
    private static let batchCapacity = 4096

    public init() {
        let sink = Sink()
        let context = unsafe Unmanaged.passUnretained(sink).toOpaque()
        let created = unsafe xmlOutputBufferCreateIO(
            { context, bytes, count in
                guard let context = unsafe context, let bytes = unsafe bytes else { return -1 }
                let sink = unsafe Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
                unsafe sink.bytes.append(
                    contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                return count
            }, nil, context, nil)
        guard let handle = unsafe created else { fatalError("libxml2 has no memory left") }
        unsafe self.handle = handle
        self.sink = sink
        unsafe batch = UnsafeMutableRawPointer.allocate(byteCount: Self.batchCapacity, alignment: 16)
    }

    deinit {
        unsafe xmlOutputBufferClose(handle)
        unsafe batch.deallocate()
    }

    /// Writes constant markup as it is.
    public func markup(_ text: StaticString) {
        unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes text that is already safe in XML: percent-encoded paths, digits, dates, stored elements.
    public func bytes(_ text: [UInt8]) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    public func bytes(_ text: ArraySlice<UInt8>) { unsafe text.withUnsafeBytes { unsafe append($0) } }

    /// Writes one byte that means nothing in XML.
    public func byte(_ byte: UInt8) {
        if batchCount == Self.batchCapacity { flushBatch() }
        unsafe batch.storeBytes(of: byte, toByteOffset: batchCount, as: UInt8.self)
        batchCount += 1
    }

    /// Writes a number in decimal digits.
    public func number(_ value: Int64) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        if batchCount > Self.batchCapacity - 20 { flushBatch() }
        var rest = value.magnitude
        var end = batchCount + 1
        while rest >= 10 {
            rest /= 10
            end += 1
        }
        batchCount = end
        rest = value.magnitude
        repeat {
            end -= 1
            unsafe batch.storeBytes(
                of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: end, as: UInt8.self)
            rest /= 10
        } while rest > 0
    }

    /// Writes a whole element, start tag, safe text and end tag; much cheaper than the pieces.
    /// - Parameter prefix: with its colon, or empty.
    public func element(_ prefix: StaticString, _ local: StaticString, bytes text: [UInt8]) {
        unsafe text.withUnsafeBytes { text in unsafe element(prefix, local, text) }
    }

    private func element(_ prefix: StaticString, _ local: StaticString, _ text: UnsafeRawBufferPointer) {
        let nameLength = prefix.utf8CodeUnitCount + local.utf8CodeUnitCount
        // `<`, `>`, `</` and `>`.
        let length = 2 * nameLength + text.count + 5
        guard length <= Self.batchCapacity else { return unsafe elementInPieces(prefix, local, text) }
        if length > Self.batchCapacity - batchCount { flushBatch() }
        var end = unsafe batch + batchCount
        batchCount += length
        func put(_ byte: UInt8) {
            unsafe end.storeBytes(of: byte, as: UInt8.self)
            unsafe end += 1
        }
        func put(_ start: UnsafeRawPointer, _ count: Int) {
            unsafe end.copyMemory(from: start, byteCount: count)
            unsafe end += count
        }
        put(UInt8(ascii: "<"))
        unsafe put(prefix.utf8Start, prefix.utf8CodeUnitCount)
        unsafe put(local.utf8Start, local.utf8CodeUnitCount)
        put(UInt8(ascii: ">"))
        if let start = text.baseAddress { unsafe put(start, text.count) }
        put(UInt8(ascii: "<"))
        put(UInt8(ascii: "/"))
        unsafe put(prefix.utf8Start, prefix.utf8CodeUnitCount)
        unsafe put(local.utf8Start, local.utf8CodeUnitCount)
        put(UInt8(ascii: ">"))
    }

    private func elementInPieces(
        _ prefix: StaticString, _ local: StaticString, _ text: UnsafeRawBufferPointer
    ) {
        byte(UInt8(ascii: "<"))
        markup(prefix)
        markup(local)
        byte(UInt8(ascii: ">"))
        unsafe append(text)
        markup("</")
        markup(prefix)
        markup(local)
        byte(UInt8(ascii: ">"))
    }

    /// Bytes written and not yet drained.
    public var count: Int {
        sink.bytes.count - sink.taken + batchCount + Int(unsafe xmlOutputBufferGetSize(handle))
    }

    /// Everything that was written since the last call.
    public func drain() -> [UInt8] {
        flush()
        let drained = sink.taken == 0 ? sink.bytes : Array(sink.bytes[sink.taken...])
        sink.bytes = []
        sink.taken = 0
        return drained
    }

    /// Moves as much as fits into `memory`, and returns how much that was; the rest stays for the next call.
    public func take(into memory: UnsafeMutableRawBufferPointer) -> Int {
        flush()
        let moved = min(memory.count, sink.bytes.count - sink.taken)
        unsafe sink.bytes.withUnsafeBytes { bytes in
            unsafe memory.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[sink.taken..<sink.taken + moved]))
        }
        sink.taken += moved
        // Moving up what is left costs no more than what was moved, and keeps the memory at its size.
        if sink.taken * 2 >= sink.bytes.count {
            sink.bytes.removeSubrange(..<sink.taken)
            sink.taken = 0
        }
        return moved
    }

    /// Runs `body` with libxml2's buffer, behind everything written so far; `body` returns libxml2's code.
    func withHandle(_ body: (xmlOutputBufferPtr) -> Int32) {
        flushBatch()
        if unsafe body(handle) < 0 { fatalError("libxml2 has no memory left") }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > Self.batchCapacity - batchCount { flushBatch() }
        guard let start = bytes.baseAddress else { return }
        if bytes.count <= Self.batchCapacity {
            unsafe (batch + batchCount).copyMemory(from: start, byteCount: bytes.count)
            batchCount += bytes.count
        } else {
            // libxml2 counts in 32 bits.
            let pieces = stride(from: 0, to: bytes.count, by: 1 << 30)
            for offset in pieces {
                let length = Int32(min(1 << 30, bytes.count - offset))
                unsafe withHandle {
                    unsafe xmlOutputBufferWrite(
                        $0, length, (start + offset).assumingMemoryBound(to: CChar.self))
                }
            }
        }
    }

    private func flushBatch() {
        guard batchCount > 0 else { return }
        let length = Int32(batchCount)
        batchCount = 0
        if unsafe xmlOutputBufferWrite(handle, length, batch.assumingMemoryBound(to: CChar.self)) < 0 {
            fatalError("libxml2 has no memory left")
        }
    }

    private func flush() {
        unsafe withHandle { unsafe xmlOutputBufferFlush($0) }
    }
}

package import DavitHTTP
package import DavitSystem

/// The name of an object: 128 random bits, so that no two writers ever use the same one.
package struct BlobKey: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses ``text``; nil for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
        if self.text != text { return nil }
    }

    /// Returns a new name.
    package static func random() -> BlobKey {
        BlobKey(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }

    /// The bits as bytes.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// 32 hexadecimal digits.
    package var text: String { Self.digits(high) + Self.digits(low) }

    private static func digits(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

/// Why an object could not be stored or read.
package enum BlobError: Error, Hashable, Sendable {
    /// There is no such object.
    case notFound
    /// The store is full.
    case outOfSpace
    /// The store cannot be reached at present; another attempt may succeed.
    case unavailable(reason: String)
    /// Another process uses the folder for local copies.
    case inUse(byProcess: Int32?)
    /// Any other error; `reason` is for the log.
    case failed(reason: String)
}

/// A store of objects that are written once and never changed: the pieces of the content of a share in a database.
///
/// All calls block.
package protocol BlobStore: BlobInventory {
    /// Begins a new object. Nothing has its name before ``BlobWriter/finish()``.
    func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter
    /// Opens an object for reading.
    /// - Parameter digest: the SHA-256 of the object, which a store compares that receives it over a network; empty if it is
    ///   not known.
    func open(_ key: BlobKey, digest: [UInt8]) throws(BlobError) -> BlobFile
    /// Threads on which objects are finished while the next ones are received; nil if this takes hardly longer than writing
    /// them.
    var transfers: BlockingPool? { get }
    /// Begins to fetch an object that will be opened soon, if the store is slow. Does not block.
    /// - Parameter digest: see ``open(_:digest:)``.
    func prefetch(_ key: BlobKey, digest: [UInt8])
    /// Removes an object; not an error if it does not exist.
    func remove(_ key: BlobKey) throws(BlobError)
    /// Returns the number of bytes that can still be stored; nil if the store has no known limit.
    func room() throws(BlobError) -> Int64?
    /// Makes the store belong to a database.
    /// - Throws: `failed` if it belongs to another one.
    func claim(for database: BlobKey) throws(BlobError)
}

extension BlobStore {
    package var transfers: BlockingPool? { nil }
    package func prefetch(_ key: BlobKey, digest: [UInt8]) {}
}

/// An object that is being written. Its bytes are discarded if it is released before ``finish()``. Calls must not overlap.
package protocol BlobWriter: AnyObject, Sendable {
    /// The number of bytes that were appended.
    var length: Int64 { get }
    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError)
    /// Reads bytes that were appended, from `offset` on.
    /// - Returns: the number of bytes read; 0 at the end.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int
    /// Stores the object durably.
    /// - Returns: the SHA-256 of its content; nil if this build has none.
    func finish() throws(BlobError) -> [UInt8]?
}

/// A stored object, open for reading.
package final class BlobFile: FileContent {
    package let descriptor: Int32
    package let length: Int64
    private let close: @Sendable (Int32) -> Void

    /// - Parameter close: closes the descriptor, when the object is released.
    package init(descriptor: Int32, length: Int64, close: @escaping @Sendable (Int32) -> Void) {
        self.descriptor = descriptor
        self.length = length
        self.close = close
    }

    deinit { close(descriptor) }

    /// Returns all bytes. Blocks.
    func bytes() throws(BlobError) -> [UInt8] {
        let buffer = IOBuffer(capacity: max(1, Int(length)))
        var offset: Int64 = 0
        while offset < length {
            let count = try read(at: offset, count: Int(length - offset), into: buffer)
            if count == 0 { break }
            offset += Int64(count)
        }
        return unsafe buffer.withBytes { unsafe Array($0) }
    }

    /// Appends bytes from `offset` on to `buffer`. Blocks.
    /// - Returns: the number of bytes, at most `count`; 0 at the end.
    package func read(at offset: Int64, count: Int, into buffer: IOBuffer) throws(BlobError) -> Int {
        var outcome = CachedFile.Outcome.unknown
        _ = unsafe buffer.fill { room in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<min(count, room.count)])
            outcome = unsafe CachedFile.read(descriptor, into: target, offset: offset)
            if case .bytes(let read) = outcome { return read }
            return 0
        }
        switch outcome {
        case .bytes(let read): return read
        case .failed(let error): throw BlobError(error)
        default: throw .failed(reason: "an object cannot be read")
        }
    }
}

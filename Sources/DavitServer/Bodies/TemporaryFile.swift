public import DavitHTTP
internal import Synchronization

/// Content that was received whole: short content in memory, else a file without a name. It goes away with the object,
/// and with the process however that ends, unless it was given a place by ``move(to:replacing:)``.
public final class TemporaryFile: Sendable {
    enum Content: Sendable {
        case memory([UInt8])
        case stored(any TemporaryStore)
    }

    /// In bytes.
    public let length: Int64
    private let content: Content
    private let files: TemporaryFiles
    private let isMoved = Atomic<Bool>(false)

    init(_ content: Content, length: Int64, in files: TemporaryFiles) {
        self.content = content
        self.length = length
        self.files = files
    }

    /// Reads from `offset` on behind what `buffer` holds.
    /// - Returns: how many bytes were read; 0 at the end.
    public func read(at offset: Int64, into buffer: IOBuffer) async throws -> Int {
        guard offset >= 0, offset < length, buffer.freeCount > 0 else { return 0 }
        switch content {
        case .memory(let bytes): return buffer.append(bytes[Int(offset)...])
        case .stored(let store):
            return try await files.run { () throws(TemporaryStorageError) in
                try store.read(at: offset, into: buffer)
            }
        }
    }

    /// All of it.
    /// - Throws: 413 if that is longer than the limit.
    public func bytes(limitBytes: Int = 1 << 20) async throws -> [UInt8] {
        guard length <= limitBytes else { throw HTTPError.tooLarge(Int64(limitBytes)) }
        if case .memory(let bytes) = content { return bytes }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        for try await chunk in chunks { bytes += chunk }
        return bytes
    }

    /// The content in pieces, from the beginning each time.
    public var chunks: Chunks { Chunks(file: self) }

    /// Gives the content a name, whole or not at all; from then on it is not temporary any more. Once only.
    ///
    /// The path is the program's. A name that came from a client, like ``MultipartForm/Upload/fileName``, may be its
    /// last component: that has no slash, and what no file can be called is refused. The folder must exist. On the
    /// volume of the temporary folder nothing is copied. The file gets the permissions of new files; what the disk has
    /// of it after a loss of power is up to the system.
    /// - Parameter replacing: what has the name may go. Else the name must be free.
    /// - Throws: 409 for a name that is taken, 400 for one that no file can have, 507 where there is no room, and other
    ///   errors, which become 500, for a folder that is missing and the like.
    public func move(to path: String, replacing: Bool = false) async throws {
        guard !isMoved.exchange(true, ordering: .relaxed) else {
            throw TemporaryStorageError.failed(reason: "the file was moved before")
        }
        do {
            switch content {
            case .memory(let bytes): try await files.keep(bytes, at: path, isReplacing: replacing)
            case .stored(let store):
                try await files.run { () throws(TemporaryStorageError) in
                    try store.keep(at: path, isReplacing: replacing)
                }
            }
        } catch {
            isMoved.store(false, ordering: .relaxed)
            throw error
        }
    }

    /// Pieces of 64 KiB.
    public struct Chunks: AsyncSequence, Sendable {
        public typealias Element = [UInt8]
        fileprivate let file: TemporaryFile

        public func makeAsyncIterator() -> Iterator { Iterator(file) }

        /// Reads a piece each time it is asked.
        public struct Iterator: AsyncIteratorProtocol {
            private let file: TemporaryFile
            private var offset: Int64 = 0
            private let buffer = IOBuffer(capacity: 64 << 10)

            init(_ file: TemporaryFile) { self.file = file }

            public mutating func next() async throws -> [UInt8]? {
                buffer.removeAll()
                let count = try await file.read(at: offset, into: buffer)
                offset += Int64(count)
                return count > 0 ? unsafe buffer.withBytes { unsafe Array($0) } : nil
            }
        }
    }
}

/// Content on its way into a ``TemporaryFile``. The files of one request share the memory that they may use.
struct TemporaryWriter {
    private let files: TemporaryFiles
    private let expectedBytes: Int64?
    private var memory: [UInt8] = []
    private var store: (any TemporaryStore)?
    private(set) var length: Int64 = 0

    init(in files: TemporaryFiles, expectedBytes: Int64?) {
        self.files = files
        self.expectedBytes = expectedBytes
    }

    /// Appends a part of the valid bytes of `buffer`; when it returns they are kept.
    /// - Parameter memoryBytes: what this request may still take of memory.
    mutating func append(
        _ buffer: IOBuffer, _ range: Range<Int>, memoryBytes: inout Int
    ) async throws {
        if store == nil, range.count <= memoryBytes {
            memoryBytes -= range.count
            unsafe buffer.withBytes { unsafe memory.append(contentsOf: $0[range]) }
        } else {
            memoryBytes += memory.count
            let early = memory
            memory = []
            store = try await files.write(early, buffer, range, to: store, expectedBytes: expectedBytes)
        }
        length += Int64(range.count)
    }

    consuming func finish() -> TemporaryFile {
        TemporaryFile(store.map { .stored($0) } ?? .memory(memory), length: length, in: files)
    }
}

public import DavitHTTP
internal import Synchronization

/// Content that was received completely: in memory if it is short, else in an unnamed file. The content is
/// deleted with the object, and in any case when the process ends, unless it was moved with
/// ``move(to:replacing:)``.
public final class TemporaryFile: Sendable {
    enum Content: Sendable {
        case memory([UInt8])
        case stored(any TemporaryContent)
    }

    /// Length in bytes.
    public let length: Int64
    private let content: Content
    private let files: TemporaryFiles
    private let isMoved = Atomic<Bool>(false)

    init(_ content: Content, length: Int64, in files: TemporaryFiles) {
        self.content = content
        self.length = length
        self.files = files
    }

    /// Appends the content that begins at `offset` to `buffer`.
    /// - Returns: the number of bytes read; 0 at the end.
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

    /// Returns the entire content.
    /// - Throws: 413 if it is longer than the limit.
    public func bytes(limitBytes: Int = 1 << 20) async throws -> [UInt8] {
        guard length <= limitBytes else { throw HTTPError.tooLarge(Int64(limitBytes)) }
        if case .memory(let bytes) = content { return bytes }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        for try await chunk in chunks { bytes += chunk }
        return bytes
    }

    /// The content in pieces. Each iteration starts at the beginning.
    public var chunks: Chunks { Chunks(file: self) }

    /// Moves the content atomically to a path, where it is permanent. A file can be moved only once; after an
    /// error, the call can be repeated.
    ///
    /// The caller must choose the path. Its last component may be a name sent by a client, such as
    /// ``MultipartForm/Upload/fileName``, which contains no slash; invalid file names are rejected. The
    /// folder must exist. Nothing is copied if the path is on the volume of the temporary folder. The file
    /// gets the default permissions of new files. Its content is not guaranteed to survive a power failure.
    /// - Parameter replacing: whether an existing file may be replaced. If false, the path must not exist.
    /// - Throws: 409 if the path exists, 400 for an invalid file name, 507 if out of space, 503 if too much
    ///   work is queued, and other errors, which become 500, for example if the folder is missing.
    public func move(to path: String, replacing: Bool = false) async throws {
        guard !isMoved.exchange(true, ordering: .relaxed) else {
            throw TemporaryStorageError.failed(reason: "the file has already been moved")
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

    /// A sequence of pieces of up to 64 KiB.
    public struct Chunks: AsyncSequence, Sendable {
        public typealias Element = [UInt8]
        fileprivate let file: TemporaryFile

        public func makeAsyncIterator() -> Iterator { Iterator(file) }

        /// Reads the next piece on each call.
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

/// Writes content to a ``TemporaryFile``. The files of one request share a memory allowance.
struct TemporaryWriter {
    private let files: TemporaryFiles
    private let expectedBytes: Int64?
    private var memory: [UInt8] = []
    private var store: (any TemporaryContent)?
    private(set) var length: Int64 = 0

    init(in files: TemporaryFiles, expectedBytes: Int64?) {
        self.files = files
        self.expectedBytes = expectedBytes
    }

    /// Appends a range of `buffer`. The buffer can be reused when the call returns.
    /// - Parameter memoryBytes: the memory that this request may still use; updated by the call.
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

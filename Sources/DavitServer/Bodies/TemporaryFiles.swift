internal import DavitHTTP

/// Storage for long request content, and the threads on which access to it may block.
public struct TemporaryFiles: Sendable {
    private let storage: (any TemporaryStorage)?
    private let work: any BlockingWorkRunner

    /// Creates files in `storage`, which is called on the threads of `work`.
    public init(storage: any TemporaryStorage, work: any BlockingWorkRunner) {
        self.storage = storage
        self.work = work
    }

    private init() {
        storage = nil
        work = UnavailableWorkRunner()
    }

    /// No storage: a request whose content is too long for memory is refused with 507.
    public static let none = TemporaryFiles()

    /// Writes `memory`, then a range of `buffer`. No other code may use the buffer in the meantime.
    ///
    /// - Parameters:
    ///   - store: the destination; nil to create a new one.
    ///   - expectedBytes: the expected length of a new store, if known.
    func write(
        _ memory: [UInt8], _ buffer: IOBuffer, _ range: Range<Int>, to store: (any TemporaryContent)?,
        expectedBytes: Int64?
    ) async throws -> any TemporaryContent {
        guard let storage else { throw TemporaryStorageError.outOfSpace.forClient }
        if let store, store.isInMemory {
            do throws(TemporaryStorageError) { try buffer.write(range, to: store) } catch {
                throw error.forClient
            }
            return store
        }
        let early = IOBuffer(copying: memory)
        return try await run { () throws(TemporaryStorageError) in
            let store =
                if let store { store } else { try storage.makeFile(expectedBytes: expectedBytes) }
            if early.count > 0 { try early.write(0..<early.count, to: store) }
            try buffer.write(range, to: store)
            return store
        }
    }

    /// Runs a call that blocks.
    /// - Throws: `HTTPError` for errors that the client should see, else ``TemporaryStorageError``.
    func run<T: Sendable>(
        _ body: @escaping @Sendable () throws(TemporaryStorageError) -> T
    ) async throws -> T {
        let result = await work.run {
            Result { () throws(TemporaryStorageError) in try body() }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error.forClient
        case nil: throw TemporaryStorageError.busy.forClient
        }
    }

    /// Writes content from memory to a file at `path`.
    func keep(_ bytes: [UInt8], at path: String, isReplacing: Bool) async throws {
        guard let storage else { throw TemporaryStorageError.failed(reason: "no temporary storage") }
        let buffer = IOBuffer(copying: bytes)
        try await run { () throws(TemporaryStorageError) in
            let store = try storage.makeFile(expectedBytes: Int64(bytes.count))
            try buffer.write(0..<buffer.count, to: store)
            try store.keep(at: path, isReplacing: isReplacing)
        }
    }
}

extension IOBuffer {
    fileprivate convenience init(copying bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        _ = append(bytes)
    }

    fileprivate func write(
        _ range: Range<Int>, to store: any TemporaryContent
    ) throws(TemporaryStorageError) {
        try unsafe withBytes { bytes throws(TemporaryStorageError) in
            try unsafe store.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}

extension TemporaryStorageError {
    fileprivate var forClient: any Error { httpError ?? self }
}

/// Used without storage; never called.
private struct UnavailableWorkRunner: BlockingWorkRunner {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { nil }
}

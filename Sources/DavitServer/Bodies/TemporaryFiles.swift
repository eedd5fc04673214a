internal import DavitHTTP

/// What readers of long content need: a place for it, and threads that may wait for that place.
public struct TemporaryFiles: Sendable {
    private let storage: (any TemporaryStorage)?
    private let work: any BlockingWork

    /// Files in `storage`, which is asked on the threads of `work`.
    public init(storage: any TemporaryStorage, work: any BlockingWork) {
        self.storage = storage
        self.work = work
    }

    private init() {
        storage = nil
        work = NoThreads()
    }

    /// Without a place: content that is too long for memory is 507.
    public static let none = TemporaryFiles()

    /// Writes `memory`, then a part of `buffer`, which nobody else uses meanwhile.
    ///
    /// - Parameters:
    ///   - store: where to; nil for a new one.
    ///   - expectedBytes: of a new one.
    func write(
        _ memory: [UInt8], _ buffer: IOBuffer, _ range: Range<Int>, to store: (any TemporaryStore)?,
        expectedBytes: Int64?
    ) async throws -> any TemporaryStore {
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

    /// Runs calls that block.
    /// - Throws: `HTTPError` for what the client should know, else ``TemporaryStorageError``.
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

    /// Keeps what is in memory under a name.
    func keep(_ bytes: [UInt8], at path: String, isReplacing: Bool) async throws {
        guard let storage else { throw TemporaryStorageError.failed(reason: "there is no place for files") }
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
        _ range: Range<Int>, to store: any TemporaryStore
    ) throws(TemporaryStorageError) {
        try unsafe withBytes { bytes throws(TemporaryStorageError) in
            try unsafe store.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}

extension TemporaryStorageError {
    fileprivate var forClient: any Error { httpError ?? self }
}

/// Never asked for anything.
private struct NoThreads: BlockingWork {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { nil }
}

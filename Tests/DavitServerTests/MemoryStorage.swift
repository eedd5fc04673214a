import DavitHTTP
import DavitServer
import Synchronization

/// Storage for files in memory that counts the files not yet released.
final class MemoryStorage: TemporaryStorage {
    private let files = Mutex(0)
    private let made = Mutex<[MemoryFile.Log]>([])
    private let room: Int
    private let isInMemory: Bool

    /// - Parameters:
    ///   - room: maximum length of a file in bytes.
    ///   - isInMemory: whether writing needs no thread switch.
    init(room: Int = .max, isInMemory: Bool = false) {
        self.room = room
        self.isInMemory = isInMemory
    }

    var fileCount: Int { files.withLock { $0 } }
    /// The operations on each file created.
    var logs: [MemoryFile.Log] { made.withLock { $0 } }
    /// Temporary files that use this storage.
    var temporaryFiles: TemporaryFiles { TemporaryFiles(storage: self, work: CallerThreadRunner(hops)) }
    /// Counts calls that would have switched threads.
    let hops = Hops()

    func makeFile(expectedBytes: Int64?) throws(TemporaryStorageError) -> any TemporaryContent {
        guard expectedBytes ?? 0 <= room else { throw .outOfSpace }
        files.withLock { $0 += 1 }
        let log = MemoryFile.Log()
        made.withLock { $0.append(log) }
        return MemoryFile(self, log, room: room, isInMemory: isInMemory)
    }

    fileprivate func didRemove() { files.withLock { $0 -= 1 } }
}

final class MemoryFile: TemporaryContent {
    final class Log: Sendable {
        fileprivate let appended = Mutex<[Int]>([])
        fileprivate let kept = Mutex<[String]>([])

        /// The length of each appended piece.
        var pieces: [Int] { appended.withLock { $0 } }
        var keptPaths: [String] { kept.withLock { $0 } }
    }

    private let storage: MemoryStorage
    private let log: Log
    private let room: Int
    private let content = Mutex<[UInt8]>([])

    let isInMemory: Bool

    init(_ storage: MemoryStorage, _ log: Log, room: Int, isInMemory: Bool) {
        self.isInMemory = isInMemory
        self.storage = storage
        self.log = log
        self.room = room
    }

    deinit { storage.didRemove() }

    func append(_ bytes: UnsafeRawBufferPointer) throws(TemporaryStorageError) {
        let isFull = content.withLock { content in
            unsafe content.append(contentsOf: bytes)
            return content.count > room
        }
        if isFull { throw .outOfSpace }
        log.appended.withLock { $0.append(bytes.count) }
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(TemporaryStorageError) -> Int {
        let bytes = content.withLock { Array($0.dropFirst(Int(offset)).prefix(buffer.freeCount)) }
        return buffer.append(bytes)
    }

    func keep(at path: String, isReplacing: Bool) throws(TemporaryStorageError) {
        if path.hasSuffix("/taken"), !isReplacing { throw .alreadyExists }
        if path.hasSuffix("/") { throw .unusableName }
        if path.hasSuffix("/broken") { throw .failed(reason: "the disk is on fire") }
        log.kept.withLock { $0.append(path) }
    }
}

final class Hops: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}

/// Runs work on the caller's thread.
struct CallerThreadRunner: BlockingWorkRunner {
    private let hops: Hops

    init(_ hops: Hops) { self.hops = hops }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? {
        hops.add()
        return work()
    }
}

/// Content that arrives in pieces of a given size, or smaller ones if the buffer has less space.
final class PiecewiseBody: RequestBody {
    private var rest: ArraySlice<UInt8>
    private let size: Int
    private let isCut: Bool
    let declaredLength: Int64?

    /// - Parameters:
    ///   - isChunked: whether the length is unknown in advance.
    ///   - isCut: whether the client disconnects after the last byte.
    init(_ bytes: [UInt8], size: Int, isChunked: Bool = true, isCut: Bool = false) {
        rest = bytes[...]
        self.size = size
        self.isCut = isCut
        declaredLength = isChunked ? nil : Int64(bytes.count)
    }

    var isPresent: Bool { true }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        if rest.isEmpty, isCut { throw .disconnected }
        let taken = buffer.append(Array(rest.prefix(min(size, buffer.freeCount))))
        rest = rest.dropFirst(taken)
        return taken
    }
}

import DavitHTTP
import DavitServer
import Synchronization

/// Files that are bytes in memory, and a count of those that still are.
final class MemoryStorage: TemporaryStorage {
    private let files = Mutex(0)

    var fileCount: Int { files.withLock { $0 } }

    func makeFile() async throws(HTTPError) -> MemoryFile {
        files.withLock { $0 += 1 }
        return MemoryFile(self)
    }

    fileprivate func didRemove() { files.withLock { $0 -= 1 } }
}

final class MemoryFile: TemporaryFile {
    private let storage: MemoryStorage
    private let content = Mutex<[UInt8]>([])

    init(_ storage: MemoryStorage) { self.storage = storage }

    deinit { storage.didRemove() }

    var length: Int64 { content.withLock { Int64($0.count) } }
    var bytes: [UInt8] { content.withLock { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func append(_ buffer: IOBuffer, _ range: Range<Int>) async throws(HTTPError) {
        let added = unsafe buffer.withBytes { unsafe Array($0[range]) }
        content.withLock { $0 += added }
    }

    func read(at offset: Int64, into buffer: IOBuffer) async throws(HTTPError) -> Int {
        buffer.append(Array(bytes.dropFirst(Int(offset)).prefix(buffer.freeCount)))
    }
}

/// Content that comes in pieces of a given size; nothing more than what was asked for is taken.
final class PiecewiseBody: RequestBody {
    private var rest: ArraySlice<UInt8>
    private let size: Int
    let declaredLength: Int64?

    /// - Parameter isChunked: the length is not told beforehand.
    init(_ bytes: [UInt8], size: Int, isChunked: Bool = true) {
        rest = bytes[...]
        self.size = size
        declaredLength = isChunked ? nil : Int64(bytes.count)
    }

    var isPresent: Bool { true }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let taken = buffer.append(Array(rest.prefix(min(size, buffer.freeCount))))
        rest = rest.dropFirst(taken)
        return taken
    }
}

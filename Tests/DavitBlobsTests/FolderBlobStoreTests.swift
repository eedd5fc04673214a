import DavitHTTP
import DavitTesting
import Testing

@testable import DavitBlobs

@Suite struct FolderBlobStoreTests {
    private let folder: TemporaryFolder
    private let store: FolderBlobStore

    init() throws {
        folder = try TemporaryFolder()
        store = try FolderBlobStore(path: folder.path + "/blobs")
    }

    private func append(_ bytes: [UInt8], to writer: any BlobWriter) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe writer.append($0) }
    }

    private func write(_ key: BlobKey, _ pieces: [[UInt8]]) throws -> [UInt8]? {
        let writer = try store.create(key)
        for piece in pieces { try append(piece, to: writer) }
        return try writer.finish()
    }

    private func read(_ key: BlobKey, at offset: Int64 = 0, count: Int = 1000) throws -> [UInt8] {
        let buffer = IOBuffer(capacity: 1000)
        let file = try store.open(key)
        #expect(try file.read(at: offset, count: count, into: buffer) == buffer.count)
        return unsafe buffer.withBytes { unsafe Array($0) }
    }

    private func failure(_ body: () throws -> Void) -> BlobError? {
        do { try body() } catch { return error as? BlobError }
        return nil
    }

    @Test func objectsAreStoredAndRead() throws {
        let key = BlobKey.random()
        let digest = try write(key, [[1, 2], [], [3]])
        #expect(digest.map { $0.count == 32 } ?? true)
        #expect(try read(key) == [1, 2, 3])
        #expect(try read(key, at: 1, count: 1) == [2])
        #expect(try read(key, at: 3).isEmpty)
        #expect(try store.open(key).length == 3)
    }

    @Test func unfinishedObjectsDoNotExist() throws {
        let key = BlobKey.random()
        var writer: (any BlobWriter)? = try store.create(key)
        if let writer { try append([1, 2, 3], to: writer) }
        #expect(failure { _ = try store.open(key) } == .notFound)
        writer = nil
        #expect(failure { _ = try store.open(key) } == .notFound)
        // The temporary file is gone, so that the name can be used.
        _ = try write(key, [[4]])
        #expect(try read(key) == [4])
    }

    @Test func removedObjectsDoNotExist() throws {
        let key = BlobKey.random()
        _ = try write(key, [[1]])
        let file = try store.open(key)
        try store.remove(key)
        #expect(failure { _ = try store.open(key) } == .notFound)
        let buffer = IOBuffer(capacity: 1)
        #expect(try file.read(at: 0, count: 1, into: buffer) == 1)
        try store.remove(key)
        try store.remove(.random())
    }

    @Test func objectsOfWritersAreRemoved() throws {
        let key = BlobKey.random()
        let writer = try store.create(key)
        try append([1], to: writer)
        try store.remove(key)
        #expect(failure { _ = try writer.finish() } == .notFound)
        #expect(failure { _ = try store.open(key) } == .notFound)
    }

    @Test func storesBelongToOneDatabase() throws {
        let database = BlobKey.random()
        try store.claim(for: database)
        try store.claim(for: database)
        let other = try FolderBlobStore(path: folder.path + "/blobs/")
        try other.claim(for: database)
        guard case .failed(let reason) = failure({ try other.claim(for: .random()) }) else {
            Issue.record("another database can use the folder")
            return
        }
        #expect(reason.contains("another database"))
    }

    @Test func roomIsThatOfTheVolume() throws {
        #expect(try store.room().map { $0 > 0 } == true)
    }
}

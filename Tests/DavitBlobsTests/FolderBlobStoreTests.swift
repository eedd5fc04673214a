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

    @Test func oneOfSeveralDatabasesGetsTheFolder() async throws {
        for number in 0..<20 {
            let path = folder.path + "/claimed-\(number)"
            let databases = [BlobKey.random(), .random(), .random()]
            let owners = await withTaskGroup(of: BlobKey?.self) { group in
                for index in 0..<6 {
                    let database = databases[index % 3]
                    group.addTask {
                        do {
                            try FolderBlobStore(path: path, syncs: false).claim(for: database)
                            return database
                        } catch { return nil }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let owner = try FolderBlobStore(path: path).owner()
            // Two tasks are of the same database.
            #expect(owners.compactMap(\.self) == [owner, owner])
        }
    }

    @Test func checksFindTheOwner() throws {
        #expect(try store.owner() == nil)
        let database = BlobKey.random()
        try store.claim(for: database)
        #expect(try store.owner() == database)
        try SmallFiles.write("other\n", to: folder.path + "/blobs/davit-database")
        #expect(try store.owner() == nil)
    }

    @Test func foldersOfChecksAreNotCreated() throws {
        let path = folder.path + "/missing"
        #expect(failure { _ = try FolderBlobStore(path: path, creates: false) } == .notFound)
        #expect(failure { _ = try FolderBlobStore(path: path, creates: false) } == .notFound)
    }

    @Test func objectsAreListedByFolder() throws {
        let key = BlobKey(high: 0xAB00_0000_0000_0001, low: 2)
        #expect(key.folder == 0xAB)
        #expect(try store.list(0xAB).isEmpty)
        #expect(try store.lengths(of: [key], in: 0xAB).isEmpty)
        _ = try write(key, [[1, 2, 3]])
        _ = try write(BlobKey(high: 0xAC00_0000_0000_0001, low: 2), [[1]])
        let unfinished = BlobKey(high: 0xAB00_0000_0000_0001, low: 3)
        let writer = try store.create(unfinished)
        try append([1, 2], to: writer)
        let place = folder.path + "/blobs/ab/"
        try SmallFiles.write("x", to: place + "notes")
        // The name of an object of another folder.
        try SmallFiles.write("x", to: place + "ac" + String(repeating: "0", count: 30))
        try SmallFiles.write("x", to: place + ".hidden")
        let found = try store.list(0xAB).sorted { $0.name < $1.name }
        #expect(
            found == [
                StoredObject(name: key.text, key: key, isComplete: true, length: 3),
                StoredObject(name: unfinished.text + ".new", key: unfinished, isComplete: false, length: 2),
                StoredObject(
                    name: "ac" + String(repeating: "0", count: 30), key: nil, isComplete: true, length: 1),
                StoredObject(name: "notes", key: nil, isComplete: true, length: 1),
            ])
        #expect(try store.lengths(of: [key, unfinished, .random()], in: 0xAB) == [key: 3])
    }

    @Test func digestsAreThoseOfTheStoredBytes() throws {
        let key = BlobKey.random()
        let digest = try write(key, [[1, 2], [3]])
        #expect(try store.digest(of: key) == digest)
        try SmallFiles.write("other", to: "\(folder.path)/blobs/\(key.text.prefix(2))/\(key.text)")
        #expect(try digest == nil || store.digest(of: key) != digest)
        #expect(failure { _ = try store.digest(of: .random()) } == (digest == nil ? nil : .notFound))
    }

    @Test func roomIsThatOfTheVolume() throws {
        #expect(try store.room().map { $0 > 0 } == true)
    }
}

import DavitSystem
import DavitTesting
import Testing

@testable import DavitBlobs

@Suite struct BlobCacheTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeCache(limit: Int64 = 1000) throws -> BlobCache {
        try BlobCache(path: folder.path + "/cache", limitBytes: limit)
    }

    /// Opens an object that the slower store has, and returns its content, and whether it was fetched.
    private func open(
        _ key: BlobKey, in cache: BlobCache, _ content: [UInt8] = [1, 2, 3], digest: [UInt8] = []
    ) throws -> (bytes: [UInt8], isFetched: Bool) {
        var isFetched = false
        let file = try cache.open(key, digest: digest) { () throws(BlobError) in
            isFetched = true
            return content
        }
        return (try file.bytes(), isFetched)
    }

    @Test func objectsAreFetchedOnce() throws {
        let cache = try makeCache()
        let key = BlobKey.random()
        #expect(try open(key, in: cache) == ([1, 2, 3], true))
        #expect(try open(key, in: cache) == ([1, 2, 3], false))
        try cache.remove(key)
        #expect(try open(key, in: cache).isFetched)
    }

    @Test func failuresAreNotRemembered() throws {
        let cache = try makeCache()
        let key = BlobKey.random()
        #expect(throws: BlobError.notFound) {
            try cache.open(key, digest: []) { () throws(BlobError) in throw .notFound }
        }
        #expect(try open(key, in: cache).isFetched)
    }

    @Test func leastRecentlyUsedObjectsAreRemoved() throws {
        let cache = try makeCache(limit: 10)
        let keys = (0..<3).map { _ in BlobKey.random() }
        for key in keys { _ = try open(key, in: cache) }
        #expect(try !open(keys[0], in: cache).isFetched)
        // 12 bytes: the two that were used least recently are removed.
        #expect(try open(.random(), in: cache).isFetched)
        #expect(try !open(keys[0], in: cache).isFetched)
        #expect(try open(keys[1], in: cache).isFetched)
    }

    @Test func copiesOfAnEarlierRunAreVerified() throws {
        let (good, bad) = (BlobKey.random(), BlobKey.random())
        let digest = (0..<64).map { _ in "0" }.joined()
        do {
            let first = try makeCache()
            _ = try open(good, in: first)
            _ = try open(bad, in: first)
        }
        let second = try makeCache()
        let text = BlobDigest.text(of: [1, 2, 3]) ?? digest
        let right = stride(from: 0, to: 64, by: 2).map { index in
            UInt8(text.dropFirst(index).prefix(2), radix: 16) ?? 0
        }
        #expect(try !open(good, in: second, digest: right).isFetched)
        let isVerified = BlobDigest.text(of: []) != nil
        #expect(
            try open(bad, in: second, [4, 5], digest: [UInt8](repeating: 0, count: 32)).isFetched
                == isVerified)
    }

    @Test func leftoversOfWritersAreRemoved() throws {
        let key = BlobKey.random()
        var first: BlobCache? = try makeCache()
        let writer = try first?.create(key)
        first = nil
        let second = try makeCache()
        // The temporary file is gone, so that the object can be written again.
        #expect(try open(key, in: second).isFetched)
        withExtendedLifetime(writer) {}
    }

    @Test func twoCachesCannotShareAFolder() throws {
        let first = try makeCache()
        let process = ProcessPrivileges.processID
        #expect(throws: BlobError.inUse(byProcess: process)) { try makeCache() }
        withExtendedLifetime(first) {}
    }
}

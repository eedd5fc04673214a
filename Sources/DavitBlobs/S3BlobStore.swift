#if S3
internal import DavitHTTP
internal import DavitServer
package import DavitSystem
internal import DavitWebClient

/// Objects in a bucket of an S3 service, with copies in a local folder.
package final class S3BlobStore: BlobStore {
    private let bucket: S3Bucket
    private let cache: BlobCache
    /// Each of them has one object in memory.
    private let threads = BlockingPool(threads: transferCount, queueLimit: transferCount)
    private static let transferCount = 4

    /// - Parameters:
    ///   - cachePath: the folder for copies.
    ///   - cacheBytes: the maximum size of all copies.
    package init(_ bucket: S3Bucket, cachePath: String, cacheBytes: Int64) throws(BlobError) {
        self.bucket = bucket
        cache = try BlobCache(path: cachePath, limitBytes: cacheBytes)
    }

    package func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter {
        S3BlobWriter(key, try cache.create(key), in: self)
    }

    package func open(_ key: BlobKey, digest: [UInt8]) throws(BlobError) -> BlobFile {
        try cache.open(key, digest: digest) { () throws(BlobError) in
            // Once more, because a byte may have changed on the way.
            for _ in 0..<2 {
                let bytes = try bucket.get(key)
                if BlobDigest.matches(bytes, digest) { return bytes }
            }
            throw .failed(reason: "the content of object \(key.text) is not that which was stored")
        }
    }

    package func remove(_ key: BlobKey) throws(BlobError) {
        try bucket.remove(key)
        try cache.remove(key)
    }

    package func room() throws(BlobError) -> Int64? { nil }

    package func claim(for database: BlobKey) throws(BlobError) { try bucket.claim(for: database) }

    package var transfers: BlockingPool? { threads }

    package func prefetch(_ key: BlobKey, digest: [UInt8]) {
        if cache.contains(key) { return }
        // If too many are under way, it is fetched when it is needed.
        threads.start { [self] in _ = try? open(key, digest: digest) }
    }

    fileprivate func put(_ key: BlobKey, _ bytes: [UInt8], digest: [UInt8]) throws(BlobError) {
        try bucket.put(key, bytes, digest: digest)
    }

    fileprivate func cached(_ key: BlobKey, length: Int64) { cache.add(key, length: length) }

    fileprivate func discard(_ key: BlobKey) { try? cache.remove(key) }

    // MARK: Checks

    package func owner() throws(BlobError) -> BlobKey? { try bucket.owner() }

    package func list(_ folder: UInt8) throws(BlobError) -> [StoredObject] { try bucket.list(folder) }

    package func lengths(of keys: [BlobKey], in folder: UInt8) throws(BlobError) -> [BlobKey: Int64] {
        try bucket.lengths(of: keys, in: folder)
    }

    package func digest(of key: BlobKey) throws(BlobError) -> [UInt8]? { try bucket.digest(of: key) }
}

/// An object in a local file, until it is complete.
private final class S3BlobWriter: BlobWriter {
    private let key: BlobKey
    private let file: any BlobWriter
    private let store: S3BlobStore

    init(_ key: BlobKey, _ file: any BlobWriter, in store: S3BlobStore) {
        self.key = key
        self.file = file
        self.store = store
    }

    var length: Int64 { file.length }

    func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError) { try unsafe file.append(bytes) }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        try unsafe file.read(at: offset, into: buffer)
    }

    func finish() throws(BlobError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(length))
        var offset = 0
        while offset < bytes.count {
            var rest = bytes.mutableSpan
            let start = offset
            let count = try unsafe rest.withUnsafeMutableBytes { room throws(BlobError) in
                try unsafe file.read(
                    at: Int64(start), into: UnsafeMutableRawBufferPointer(rebasing: room[start...]))
            }
            if count == 0 { throw .failed(reason: "a local file has become shorter") }
            offset += count
        }
        guard let digest = try file.finish() else { throw .failed(reason: "S3 requires SHA-256") }
        do throws(BlobError) { try store.put(key, bytes, digest: digest) } catch {
            store.discard(key)
            throw error
        }
        store.cached(key, length: Int64(bytes.count))
        return digest
    }
}
#endif

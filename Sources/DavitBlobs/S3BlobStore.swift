#if S3
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import DavitWebClient

/// Objects in a bucket of an S3 service, with copies in a local folder.
///
/// Each request is signed with the SHA-256 of its content, which the service compares. Conditional requests and the status of
/// ranges are not used, because not all services implement them: an object has a random name, and is written once.
package final class S3BlobStore: BlobStore {
    /// Where a bucket is, and how requests to it are signed.
    package struct Settings: Sendable {
        /// The URL of the service, such as `https://s3.eu-central-1.amazonaws.com`, without a slash at the end.
        package var endpoint: String
        /// The bucket, and the beginning of all names, with slashes between them.
        package var place: String
        package var region: String
        package var accessKey: String
        package var secretKey: String
        /// Nil for keys that do not expire.
        package var sessionToken: String?
        /// For one request with all its repetitions, in milliseconds.
        package var timeLimitMilliseconds: Int = 30_000

        package init(
            endpoint: String, place: String, region: String, accessKey: String, secretKey: String,
            sessionToken: String?
        ) {
            self.endpoint = endpoint
            self.place = place
            self.region = region
            self.accessKey = accessKey
            self.secretKey = secretKey
            self.sessionToken = sessionToken
        }
    }

    private let settings: Settings
    private let client: HTTPSClient
    private let cache: BlobCache

    /// The largest object, in bytes.
    private static let limitBytes = 64 << 20

    /// - Parameters:
    ///   - cachePath: the folder for copies.
    ///   - cacheBytes: the maximum size of all copies.
    package init(_ settings: Settings, cachePath: String, cacheBytes: Int64) throws(BlobError) {
        guard RunningDigest.isAvailable(.sha256) else {
            throw .failed(reason: "S3 requires SHA-256, which this build does not have")
        }
        self.settings = settings
        client = HTTPSClient(
            authorities: nil, allowsPlain: settings.endpoint.hasPrefix("http://"),
            connectMilliseconds: 5_000, totalMilliseconds: settings.timeLimitMilliseconds)
        cache = try BlobCache(path: cachePath, limitBytes: cacheBytes)
    }

    package func create(_ key: BlobKey) throws(BlobError) -> any BlobWriter {
        S3BlobWriter(key, try cache.create(key), in: self)
    }

    package func open(_ key: BlobKey, digest: [UInt8]) throws(BlobError) -> BlobFile {
        try cache.open(key, digest: digest) { () throws(BlobError) in
            // Once more, because a byte may have changed on the way.
            for _ in 0..<2 {
                let response = try send(ask("GET", name(of: key)))
                if response.status == 404 { throw .notFound }
                try check(response, "GET")
                if BlobDigest.matches(response.bytes, digest) { return response.bytes }
            }
            throw .failed(reason: "the content of object \(key.text) is not that which was stored")
        }
    }

    package func remove(_ key: BlobKey) throws(BlobError) {
        let response = try send(ask("DELETE", name(of: key)))
        if response.status != 404 { try check(response, "DELETE") }
        try cache.remove(key)
    }

    package func room() throws(BlobError) -> Int64? { nil }

    package func claim(for database: BlobKey) throws(BlobError) {
        let content = Array((database.text + "\n").utf8)
        var owner = try send(ask("GET", "davit-database"))
        if owner.status == 404 {
            try check(try send(ask("PUT", "davit-database", content)), "PUT")
            owner = try send(ask("GET", "davit-database"))
        }
        try check(owner, "GET")
        if owner.bytes != content {
            throw .failed(reason: "\(settings.place) contains the content of another database")
        }
    }

    fileprivate func put(_ key: BlobKey, _ bytes: [UInt8]) throws(BlobError) {
        try check(try send(ask("PUT", name(of: key), bytes)), "PUT")
    }

    fileprivate func cached(_ key: BlobKey, length: Int64) { cache.add(key, length: length) }

    // MARK: Requests

    private func name(of key: BlobKey) -> String { key.text.prefix(2) + "/" + key.text }

    private func ask(_ method: String, _ name: String, _ content: [UInt8]? = nil) -> ServiceRequest {
        var request = ServiceRequest(
            url: "\(settings.endpoint)/\(settings.place)/\(name)", limitBytes: Self.limitBytes)
        if method != "GET" { request.method = method }
        request.content = content
        request.signature = ServiceSignature(
            region: settings.region, accessKey: settings.accessKey, secretKey: settings.secretKey)
        request.fields = ["x-amz-content-sha256: \(BlobDigest.text(of: content ?? []) ?? "")"]
        if content != nil { request.fields.append("Content-Type: application/octet-stream") }
        if let token = settings.sessionToken { request.fields.append("x-amz-security-token: \(token)") }
        return request
    }

    /// Sends a request, and repeats it if the service asks for it or does not respond. All requests can be repeated.
    private func send(_ request: ServiceRequest) throws(BlobError) -> ServiceResponse {
        let deadline = ContinuousClock.now + .milliseconds(settings.timeLimitMilliseconds)
        var pause = 50
        while true {
            let reason: String
            do throws(ServiceFailure) {
                let response = try client.send(request)
                guard response.status == 429 || response.status >= 500, response.status != 507 else {
                    return response
                }
                reason = "status \(response.status)"
            } catch {
                switch error {
                case .unavailable(let text): reason = text
                case .tooLong: throw .failed(reason: "an object is too long")
                case .cancelled: throw .unavailable(reason: "cancelled")
                }
            }
            guard ContinuousClock.now + .milliseconds(pause) < deadline else {
                throw .unavailable(reason: "the object store: \(reason)")
            }
            // Other nodes and threads repeat their requests at other times.
            SystemThread.sleep(milliseconds: Int.random(in: pause / 2...pause))
            pause = min(pause * 2, 2_000)
        }
    }

    private func check(_ response: ServiceResponse, _ method: String) throws(BlobError) {
        switch response.status {
        case 200...299: return
        case 507: throw .outOfSpace
        case 404: throw .notFound
        default:
            throw .failed(reason: "the object store answered \(method) with status \(response.status)")
        }
    }
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
        try store.put(key, bytes)
        let digest = try file.finish()
        store.cached(key, length: Int64(bytes.count))
        return digest
    }
}
#endif

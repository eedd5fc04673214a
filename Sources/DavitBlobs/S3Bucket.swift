#if S3
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import DavitWebClient
internal import DavitXML

/// Requests for the objects in a bucket of an S3 service.
///
/// Each request is signed with the SHA-256 of its content, which the service compares. Conditional requests and the status of
/// ranges are not used, because not all services implement them: an object has a random name, and is written once.
package struct S3Bucket: BlobInventory {
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

    /// The size of most objects, in bytes.
    private static let usualBytes = 8 << 20
    /// The largest object, in bytes.
    private static let limitBytes = 64 << 20
    private static let marker = "davit-database"

    package init(_ settings: Settings) throws(BlobError) {
        guard RunningDigest.isAvailable(.sha256) else {
            throw .failed(reason: "S3 requires SHA-256, which this build does not have")
        }
        self.settings = settings
        client = HTTPSClient(
            authorities: nil, allowsPlain: settings.endpoint.hasPrefix("http://"),
            connectMilliseconds: 5_000, totalMilliseconds: settings.timeLimitMilliseconds,
            keepsConnections: true)
    }

    func get(_ key: BlobKey) throws(BlobError) -> [UInt8] {
        var request = ask("GET", path(of: key))
        request.expectedBytes = Self.usualBytes
        let response = try send(request)
        try check(response, "GET")
        return response.bytes
    }

    /// - Parameter digest: the SHA-256 of the bytes.
    func put(_ key: BlobKey, _ bytes: [UInt8], digest: [UInt8]) throws(BlobError) {
        try check(try send(ask("PUT", path(of: key), bytes, digest: BlobDigest.digits(digest))), "PUT")
    }

    func remove(_ key: BlobKey) throws(BlobError) {
        let response = try send(ask("DELETE", path(of: key)))
        if response.status != 404 { try check(response, "DELETE") }
    }

    func claim(for database: BlobKey) throws(BlobError) {
        var owner = try send(ask("GET", Self.marker))
        if owner.status == 404 {
            try check(try send(ask("PUT", Self.marker, database.marker)), "PUT")
            owner = try send(ask("GET", Self.marker))
        }
        try check(owner, "GET")
        if owner.bytes != database.marker {
            throw .failed(reason: "\(settings.place) contains the content of another database")
        }
    }

    // MARK: Checks

    package func owner() throws(BlobError) -> BlobKey? {
        let response = try send(ask("GET", Self.marker))
        if response.status == 404 { return nil }
        try check(response, "GET")
        return BlobKey(marker: response.bytes)
    }

    package func list(_ folder: UInt8) throws(BlobError) -> [StoredObject] {
        let parts = settings.place.split(separator: "/", maxSplits: 1)
        let prefix = (parts.count > 1 ? parts[1] + "/" : "") + Self.digits(folder) + "/"
        var objects: [StoredObject] = []
        var token: String?
        repeat {
            // Not all versions of libcurl sort the parameters before they sign them.
            var query = token.map { "continuation-token=\(Self.encoded($0))&" } ?? ""
            query += "list-type=2&max-keys=1000&prefix=\(Self.encoded(prefix))"
            let response = try send(request("GET", "\(settings.endpoint)/\(parts[0])?\(query)"))
            try check(response, "GET")
            let page = try S3Listing(response.bytes)
            for (name, length) in page.objects where name.hasPrefix(prefix) && name != prefix {
                let name = String(name.dropFirst(prefix.count))
                let key = BlobKey(name)
                objects.append(
                    StoredObject(
                        name: name, key: key?.folder == folder ? key : nil, isComplete: true, length: length))
            }
            if page.next != nil, page.next == token {
                throw .failed(reason: "the object store repeats a page of a list")
            }
            token = page.next
        } while token != nil
        return objects
    }

    package func lengths(of keys: [BlobKey], in folder: UInt8) throws(BlobError) -> [BlobKey: Int64] {
        let wanted = Set(keys)
        var lengths: [BlobKey: Int64] = [:]
        for object in try list(folder) {
            if let key = object.key, wanted.contains(key) { lengths[key] = object.length }
        }
        return lengths
    }

    package func digest(of key: BlobKey) throws(BlobError) -> [UInt8]? {
        guard let digest = RunningDigest(.sha256) else { return nil }
        unsafe try get(key).withUnsafeBytes { unsafe digest.update($0) }
        return digest.finish()?.bytes
    }

    /// Percent-encodes a value of a query as signatures require it: everything but letters, digits and `-._~`.
    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, scalar.properties.isAlphabetic || "0123456789-._~".utf8.contains(byte) {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return encoded
    }

    // MARK: Requests

    private func path(of key: BlobKey) -> String { key.text.prefix(2) + "/" + key.text }

    private func ask(
        _ method: String, _ name: String, _ content: [UInt8]? = nil, digest: String? = nil
    ) -> ServiceRequest {
        request(method, "\(settings.endpoint)/\(settings.place)/\(name)", content, digest: digest)
    }

    /// - Parameter digest: the SHA-256 of the content in hexadecimal digits; nil to compute it.
    private func request(
        _ method: String, _ url: String, _ content: [UInt8]? = nil, digest: String? = nil
    ) -> ServiceRequest {
        var request = ServiceRequest(url: url, limitBytes: Self.limitBytes)
        if method != "GET" { request.method = method }
        request.content = content
        request.signature = ServiceSignature(
            region: settings.region, accessKey: settings.accessKey, secretKey: settings.secretKey)
        request.fields = ["x-amz-content-sha256: \(digest ?? BlobDigest.text(of: content ?? []) ?? "")"]
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
                FileFaults.step("s3-request")
                let response = try client.send(request)
                FileFaults.step("s3-response")
                guard
                    response.status == 429 || response.status >= 500 || Self.isDamaged(response),
                    response.status != 507
                else { return response }
                reason = Self.description(of: response)
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

    /// Whether a request was damaged or interrupted on the way, which services also report with status 400.
    private static func isDamaged(_ response: ServiceResponse) -> Bool {
        guard response.status == 400, let code = errorCode(response) else { return false }
        return ["BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentSHA256Mismatch"].contains(code)
    }

    /// The code in the content of an error, such as `AccessDenied`; nil if there is none.
    private static func errorCode(_ response: ServiceResponse) -> String? {
        guard let document = try? XMLDocument.parse(response.bytes, limits: XMLLimits()),
            document.root.local == "Error"
        else { return nil }
        return document.root.children.first { $0.local == "Code" }?.text
    }

    private static func description(of response: ServiceResponse) -> String {
        let code = errorCode(response).map { " (\($0))" } ?? ""
        return "status \(response.status)\(code)"
    }

    private func check(_ response: ServiceResponse, _ method: String) throws(BlobError) {
        switch response.status {
        case 200...299: return
        case 507: throw .outOfSpace
        case 404: throw .notFound
        default:
            throw .failed(
                reason: "the object store answered \(method) with \(Self.description(of: response))")
        }
    }
}

/// A page of the response of ListObjectsV2.
private struct S3Listing {
    var objects: [(name: String, length: Int64)] = []
    /// Identifies the next page; nil for the last one.
    var next: String?

    init(_ bytes: [UInt8]) throws(BlobError) {
        var limits = XMLLimits()
        // At most 1,000 objects, each with some members.
        limits.bytes = 4 << 20
        let document: XMLDocument
        do throws(XMLError) { document = try XMLDocument.parse(bytes, limits: limits) } catch {
            throw .failed(reason: "the object store answered with an invalid list")
        }
        guard document.root.local == "ListBucketResult" else {
            throw .failed(reason: "the object store answered with an unknown list")
        }
        var isTruncated = false
        var token = ""
        for child in document.root.children {
            switch child.local {
            case "IsTruncated": isTruncated = child.text == "true"
            case "NextContinuationToken": token = child.text
            case "Contents":
                let members = child.children
                guard let name = members.first(where: { $0.local == "Key" })?.text,
                    let length = members.first(where: { $0.local == "Size" }).flatMap({ Int64($0.text) })
                else { throw .failed(reason: "the object store answered with an incomplete list") }
                objects.append((name, length))
            default: break
            }
        }
        if !isTruncated { return }
        if token.isEmpty { throw .failed(reason: "the object store answered with an incomplete list") }
        next = token
    }
}
#endif

#if S3
internal import DavitBlobs
internal import DavitSystem

extension S3BlobStore {
    /// Opens a bucket with the keys of the environment.
    /// - Parameters:
    ///   - bucket: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
    ///   - cachePath: nil for a folder in that of the user for caches.
    static func open(
        bucket: String, cachePath: String?, cacheBytes: Int64
    ) throws(BlobError) -> S3BlobStore {
        let opened = try S3Bucket(bucket)
        var paths = cachePath.map { [$0] } ?? []
        if cachePath == nil, let folder = SharedDatabase.cacheFolderOfUser {
            // Several commands may run at the same time.
            paths = ["", "-2", "-3", "-4", "-5", "-6", "-7", "-8"].map {
                "\(folder)/\(S3Bucket.place(of: bucket))" + $0
            }
        }
        guard let last = paths.last else {
            throw .failed(reason: "\(bucket) requires a folder for local copies: specify --state-dir")
        }
        for path in paths.dropLast() {
            do throws(BlobError) {
                return try S3BlobStore(opened, cachePath: path, cacheBytes: cacheBytes)
            } catch {
                guard case .inUse = error else { throw error }
            }
        }
        return try S3BlobStore(opened, cachePath: last, cacheBytes: cacheBytes)
    }
}

extension S3Bucket {
    fileprivate static func place(of bucket: String) -> Substring {
        bucket.dropFirst("s3://".count).drop { $0 == "/" }
    }

    /// Finds a bucket with the keys of the environment.
    /// - Parameter bucket: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
    init(_ bucket: String) throws(BlobError) {
        // Empty variables count as not set, as in the tools of AWS.
        let variables = Environment.variables(startingWith: "AWS_").filter { !$0.value.isEmpty }
        guard let accessKey = variables["AWS_ACCESS_KEY_ID"], !accessKey.contains(":"),
            let secretKey = variables["AWS_SECRET_ACCESS_KEY"]
        else {
            throw .failed(reason: "\(bucket) requires AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        let place = Self.place(of: bucket)
        let isNamePart = { (byte: UInt8) in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || "-._/".utf8.contains(byte)
        }
        // Others would have to be encoded, which not all versions of libcurl sign correctly.
        guard !place.isEmpty, place.utf8.allSatisfy(isNamePart), !place.hasSuffix("/") else {
            throw .failed(reason: "'\(bucket)' is not s3://BUCKET or s3://BUCKET/PREFIX")
        }
        let region = variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? "us-east-1"
        var endpoint =
            variables["AWS_ENDPOINT_URL_S3"] ?? variables["AWS_ENDPOINT_URL"]
            ?? "https://s3.\(region).amazonaws.com"
        while endpoint.hasSuffix("/") { endpoint.removeLast() }
        try self.init(
            Settings(
                endpoint: endpoint, place: String(place), region: region, accessKey: accessKey,
                secretKey: secretKey, sessionToken: variables["AWS_SESSION_TOKEN"]))
    }
}
#endif

package import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The header fields of tus 1.0 in a request.
package struct TusFields: Sendable {
    /// The supported pairs of `Upload-Metadata`.
    package struct Metadata: Sendable {
        package var name: [UInt8]?
        var type: String?
        /// Seconds since 1970. JavaScript clients send milliseconds, which are converted.
        var modified: Int64?
    }

    package let offset: Int64?
    package let length: Int64?
    let defersLength: Bool
    package let metadata: Metadata

    static let metadataField = "Upload-Metadata"

    /// - Throws: 400 for invalid values, because the client expects them to be used.
    init(_ request: HTTPRequest) throws(WebDAVError) {
        offset = try request.value(of: .uploadOffset) { $0.decimalValue }
        length = try request.value(of: .uploadLength) { $0.decimalValue }
        switch request.string(named: "Upload-Defer-Length") {
        case nil: defersLength = false
        case "1": defersLength = true
        default: throw WebDAVError(.badRequest)
        }
        metadata = try Self.metadata(request.string(named: Self.metadataField) ?? "")
    }

    /// Parses the fields of a request, and validates `Upload-Checksum`; nil if the server responds with 400.
    package static func valid(in request: HTTPRequest) -> TusFields? {
        guard let fields = try? TusFields(request), (try? checksum(request)) != nil else { return nil }
        return fields
    }

    /// Parses a list of keys, each with an optional Base64 value.
    static func metadata(_ field: String) throws(WebDAVError) -> Metadata {
        var metadata = Metadata()
        for pair in field.split(separator: ",") {
            let words = pair.split(separator: " ")
            guard let key = words.first, words.count <= 2 else { throw WebDAVError(.badRequest) }
            let text = Array((words.count == 2 ? words[1] : "").utf8)
            guard let value = Base64.decode(text.span) else { throw WebDAVError(.badRequest) }
            switch key {
            case "filename", "name":
                if metadata.name == nil || key == "filename" { metadata.name = value }
            case "filetype", "type", "mimetype":
                metadata.type = metadata.type ?? String(validating: value, as: UTF8.self)
            case "mtime", "lastModified", "last_modified":
                metadata.modified = metadata.modified ?? value.withSpan { time($0) }
            default: break
            }
        }
        return metadata
    }

    private static func time(_ value: borrowing Span<UInt8>) -> Int64? {
        guard let time = UploadFields.parseTime(value)?.seconds else {
            // Too many seconds for a timestamp, which counts nanoseconds, so the unit must be milliseconds.
            return value.decimalValue.map { $0 / 1000 }
        }
        return time
    }

    /// Returns the digest of this request's content (checksum extension).
    /// - Throws: 400 for a malformed field or an unsupported algorithm.
    static func checksum(_ request: HTTPRequest) throws(WebDAVError) -> [ContentDigest] {
        guard let field = request.string(named: "Upload-Checksum") else { return [] }
        let words = field.split(separator: " ")
        guard words.count == 2, let algorithm = algorithms.first(where: { $0.name == words[0] })?.algorithm,
            let bytes = Base64.decode(Array(words[1].utf8).span)
        else { throw WebDAVError(.badRequest) }
        return [ContentDigest(algorithm, bytes)]
    }

    /// The algorithms available in this build.
    static let algorithms: [(name: String, algorithm: DigestAlgorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512), ("md5", .md5), ("adler32", .adler32),
    ].filter { RunningDigest.isAvailable($0.1) }
}

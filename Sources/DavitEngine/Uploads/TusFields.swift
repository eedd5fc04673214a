package import DavitHTTP
internal import DavitServer
internal import DavitStore

/// What a request says in the fields of tus 1.0.
package struct TusFields: Sendable {
    /// Pairs of `Upload-Metadata` that mean something here.
    package struct Metadata: Sendable {
        package var name: [UInt8]?
        var type: String?
        /// Seconds since 1970; clients with JavaScript send milliseconds, which no time of a file is.
        var modified: Int64?
    }

    package let offset: Int64?
    package let length: Int64?
    let defersLength: Bool
    package let metadata: Metadata

    static let metadataField = "Upload-Metadata"

    /// - Throws: 400 for values that nobody can read: who sends them wants them to be looked at.
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

    /// The fields of a request with `Upload-Checksum` checked too; nil for what is answered with 400.
    package static func valid(in request: HTTPRequest) -> TusFields? {
        guard let fields = try? TusFields(request), (try? checksum(request)) != nil else { return nil }
        return fields
    }

    /// A list of keys, each with a value in Base64 or none.
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
            // Too large for nanoseconds, so that it counts less than seconds.
            return value.decimalValue.map { $0 / 1000 }
        }
        // In seconds, the year 5138.
        return abs(time) < 100_000_000_000 ? time : time / 1000
    }

    /// The digest of this request's content (checksum extension).
    /// - Throws: 400 for an algorithm that is not offered.
    static func checksum(_ request: HTTPRequest) throws(WebDAVError) -> [ContentDigest] {
        guard let field = request.string(named: "Upload-Checksum") else { return [] }
        let words = field.split(separator: " ")
        guard words.count == 2, let algorithm = algorithms.first(where: { $0.name == words[0] })?.algorithm,
            let bytes = Base64.decode(Array(words[1].utf8).span)
        else { throw WebDAVError(.badRequest) }
        return [ContentDigest(algorithm, bytes)]
    }

    /// What this build can make of them.
    static let algorithms: [(name: String, algorithm: DigestAlgorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512), ("md5", .md5), ("adler32", .adler32),
    ].filter { RunningDigest.isAvailable($0.1) }
}

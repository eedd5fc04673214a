internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The header fields of an upload that describe its content.
struct UploadFields: Sendable {
    /// `X-OC-MTime`: the modification time, in seconds.
    var modified: Timestamp?
    /// `X-OC-CTime`: the creation time, in seconds.
    var created: Timestamp?
    /// `Content-Digest`, `Repr-Digest` and `OC-Checksum`: the expected digests of the content. Content is stored exactly as
    /// sent, so the message content and the representation have the same digests. For a partial upload, only
    /// `Content-Digest` applies.
    var digests: [ContentDigest] = []
    /// `Content-Language`: the languages of the content's audience; nil if the client specifies none.
    var language: ContentLanguage?
    /// Whether the body is only a part of the resource's content.
    let isPart: Bool
    /// `X-Expected-Entity-Length`, which the macOS Finder sends with chunked content: used only to refuse a request early.
    /// The actual length follows from the message framing.
    var expectedLength: Int64?

    /// Parses the fields.
    ///
    /// Ignores invalid or unsupported times, and the response does not report them as accepted. These fields are not
    /// standardized, and storing the content matters more than its time.
    ///
    /// - Throws: 400 with `digest-malformed` if a digest cannot be parsed, because the client expects it to be verified;
    ///   400 for a `Content-Language` that is malformed or longer than ``ContentLanguage/maximumBytes``, because
    ///   responses to GET would contain it.
    init(_ request: HTTPRequest, isPart: Bool) throws(WebDAVError) {
        self.isPart = isPart
        modified = Self.time(.xOCMTime, in: request)
        created = Self.time(.xOCCTime, in: request)
        expectedLength = request.withValue(of: .xExpectedEntityLength) { $0.decimalValue } ?? nil
        if let value = request.combinedBytes(of: .contentDigest) {
            digests += try Self.parsing { () throws(DigestError) in try DigestField.parse(value.span) }
        }
        if !isPart {
            digests += try Self.wholeDigests(request)
            language = try Self.language(request)
        }
    }

    private static func language(_ request: HTTPRequest) throws(WebDAVError) -> ContentLanguage? {
        guard let value = request.combinedBytes(of: .contentLanguage) else { return nil }
        guard let language = ContentLanguage(parsing: value.span) else { throw WebDAVError(.badRequest) }
        return language.tags.isEmpty ? nil : language
    }

    /// Parses `Repr-Digest` and `OC-Checksum`: the expected digests of the complete content, even if this
    /// request contains only a part of it.
    /// - Throws: 400 with `digest-malformed`.
    static func wholeDigests(_ request: HTTPRequest) throws(WebDAVError) -> [ContentDigest] {
        try parsing { () throws(DigestError) in
            var digests: [ContentDigest] = []
            if let value = request.combinedBytes(of: .reprDigest) {
                digests += try DigestField.parse(value.span)
            }
            if let value = request.combinedBytes(of: .ocChecksum) {
                digests += try ChecksumList.parse(value.span)
            }
            return digests
        }
    }

    private static func parsing(
        _ parse: () throws(DigestError) -> [ContentDigest]
    ) throws(WebDAVError) -> [ContentDigest] {
        do throws(DigestError) { return try parse() } catch {
            throw WebDAVError(.badRequest, .digestMalformed)
        }
    }

    /// Whether the fields require rows of properties.
    var needsRows: Bool { created != nil || language != nil }

    private static func time(_ name: FieldName, in request: HTTPRequest) -> Timestamp? {
        request.withValue(of: name) { parseTime($0) } ?? nil
    }

    /// Parses seconds since 1970, optionally with a minus sign and a fraction; rounds down.
    static func parseTime(_ value: borrowing Span<UInt8>) -> Timestamp? {
        let text = value.extracting(value.trimmedRange)
        let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
        let digits = text.extracting((isNegative ? 1 : 0)..<text.count)
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        guard var seconds = digits.extracting(0..<point).decimalValue else { return nil }
        var hasFraction = false
        if point < digits.count {
            let fraction = digits.extracting((point + 1)..<digits.count)
            for index in 0..<fraction.count {
                guard fraction[index].isDigit else { return nil }
                if fraction[index] != UInt8(ascii: "0") { hasFraction = true }
            }
        }
        if isNegative { seconds = -seconds - (hasFraction ? 1 : 0) }
        return Timestamp(checking: seconds)
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What a client says about the content that it sends, besides what HTTP itself needs.
struct UploadFields: Sendable {
    /// `X-OC-MTime`: when the content was changed last, to the second.
    var modified: Timestamp?
    /// `X-OC-CTime`: when it was made, to the second.
    var created: Timestamp?
    /// `Content-Digest`, `Repr-Digest` and `OC-Checksum`: what the content has to be. All of it is sent as it is, so that
    /// message and representation have the same digests here; but of a part `Content-Digest` alone speaks.
    var digests: [ContentDigest] = []
    /// `Content-Language`: what languages all of the content is for; nil if the client names none.
    var language: ContentLanguage?
    /// The content of the message is a part of that of the resource.
    let isPart: Bool
    /// `X-Expected-Entity-Length`, which the Finder sends with chunked content: what it thinks will come. Good for
    /// refusing early; how long the content is, its framing alone says.
    var expectedLength: Int64?

    /// Costs nothing worth counting where there are no such fields.
    ///
    /// Times that nobody can read, or that no content can have, are left out, and not accepted in the answer: these
    /// fields are no standard, and content is worth more than its time.
    ///
    /// - Throws: 400 with `digest-malformed`: who sends a digest wants it to be looked at; 400 for a `Content-Language` that
    ///   is malformed or over ``ContentLanguage/maximumBytes``: it would be sent again with every answer.
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

    /// `Repr-Digest` and `OC-Checksum`: what all of the content has to be, also where this request has a part of it.
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

    /// True if something is to be kept in a row, or compared with all of the content.
    var needsMoreThanBytes: Bool { created != nil || !digests.isEmpty || language != nil }

    private static func time(_ name: FieldName, in request: HTTPRequest) -> Timestamp? {
        request.withValue(of: name) { parseTime($0) } ?? nil
    }

    /// Seconds since 1970, with a sign and a fraction perhaps; the fraction is cut off towards the past.
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

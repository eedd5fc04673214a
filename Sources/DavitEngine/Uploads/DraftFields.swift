package import DavitHTTP

/// What a request says in the fields of draft-ietf-httpbis-resumable-upload. Values of other types count as absent, as
/// the draft has it (§4.1).
package struct DraftFields: Sendable {
    /// The iteration of the draft that the client implements, if that is one of those that are known here.
    let version: Int?
    /// The content ends with that of this request; nil if it does not say.
    let isComplete: Bool?
    package let offset: Int64?
    package let length: Int64?

    static let versionField = "Upload-Draft-Interop-Version"
    /// 3 is draft -01, which Apple's URLSession speaks; 8 is everything from -09 on.
    private static let versions = 3...8

    package init(_ request: HTTPRequest) {
        let sent = request.string(named: Self.versionField).flatMap { Int($0) }
        version = sent.flatMap { Self.versions.contains($0) ? $0 : nil }
        // The field was turned round after version 3; who says no version may mean either.
        if version ?? 3 == 3, request.contains(.uploadIncomplete), !request.contains(.uploadComplete) {
            isComplete = Self.boolean(.uploadIncomplete, in: request).map { !$0 }
        } else {
            isComplete = version == 3 ? nil : Self.boolean(.uploadComplete, in: request)
        }
        offset = Self.integer(.uploadOffset, in: request)
        length = Self.integer(.uploadLength, in: request)
    }

    /// Whether a request may be one of the draft. O(1).
    static func stand(in request: HTTPRequest) -> Bool {
        request.contains(.uploadComplete) || request.contains(.uploadIncomplete)
    }

    /// An interim response is for those who say which draft they mean.
    var wantsInterim: Bool { version != nil }
    /// From version 6 on the content has a media type of its own; who says no version speaks the newest.
    var needsMediaType: Bool { version ?? 8 >= 6 }
    /// What an append answers that does not complete the upload: with version 6 it became any success.
    var appended: HTTPStatus { version ?? 8 < 6 ? .created : .noContent }

    /// Adds whether the upload is complete, in the words of the client's version.
    func append(isComplete: Bool, to fields: inout HTTPFields) {
        if version == 3 {
            fields.append(.uploadIncomplete, isComplete ? "?0" : "?1")
        } else {
            fields.append(.uploadComplete, isComplete ? "?1" : "?0")
        }
        appendVersion(to: &fields)
    }

    func appendVersion(to fields: inout HTTPFields) {
        if let version { fields.append(named: Self.versionField, String(version)) }
    }

    // MARK: Items (RFC 9651 §3.3)

    private static func boolean(_ name: FieldName, in request: HTTPRequest) -> Bool? {
        guard request.count(of: name) == 1 else { return nil }
        switch bare(name, in: request) {
        case Array("?1".utf8): return true
        case Array("?0".utf8): return false
        default: return nil
        }
    }

    private static func integer(_ name: FieldName, in request: HTTPRequest) -> Int64? {
        guard request.count(of: name) == 1 else { return nil }
        guard let digits = bare(name, in: request), digits.count <= 15 else { return nil }
        return digits.span.decimalValue
    }

    /// Without parameters, which no item here has.
    private static func bare(_ name: FieldName, in request: HTTPRequest) -> [UInt8]? {
        guard let item = request.bytes(of: name)?.prefix(while: { $0 != UInt8(ascii: ";") }) else {
            return nil
        }
        return Array(Array(item)[Array(item).span.trimmedRange])
    }
}

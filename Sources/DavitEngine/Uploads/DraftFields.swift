package import DavitHTTP

/// The header fields of draft-ietf-httpbis-resumable-upload in a request. Fields whose values have the wrong
/// type are ignored, as the draft requires (§4.1).
package struct DraftFields: Sendable {
    /// The interop version of the draft that the client implements; nil if unknown or not supported.
    let version: Int?
    /// Whether the content is complete after this request; nil if the client does not specify this.
    let isComplete: Bool?
    package let offset: Int64?
    package let length: Int64?

    static let versionField = "Upload-Draft-Interop-Version"
    /// Version 3 is draft -01, which Apple's URLSession implements; version 8 is draft -09 and later.
    private static let versions = 3...8

    package init(_ request: HTTPRequest) {
        let sent = request.string(named: Self.versionField).flatMap { Int($0) }
        version = sent.flatMap { Self.versions.contains($0) ? $0 : nil }
        // The meaning of the field was inverted after version 3; a client without a version may use either.
        if version ?? 3 == 3, request.contains(.uploadIncomplete), !request.contains(.uploadComplete) {
            isComplete = Self.boolean(.uploadIncomplete, in: request).map { !$0 }
        } else {
            isComplete = version == 3 ? nil : Self.boolean(.uploadComplete, in: request)
        }
        offset = Self.integer(.uploadOffset, in: request)
        length = Self.integer(.uploadLength, in: request)
    }

    /// Whether a request contains a completion field of the draft, and may therefore be part of an upload.
    static func arePresent(in request: HTTPRequest) -> Bool {
        request.contains(.uploadComplete) || request.contains(.uploadIncomplete)
    }

    /// Whether the client expects an interim response: only if it specifies its version.
    var wantsInterim: Bool { version != nil }
    /// Whether the content needs the dedicated media type, introduced in version 6. A client without a
    /// version uses the latest.
    var needsMediaType: Bool { version ?? 8 >= 6 }
    /// The status of an append that does not complete the upload; since version 6, any success status is
    /// allowed.
    var appended: HTTPStatus { version ?? 8 < 6 ? .created : .noContent }

    /// Appends the completion state, in the form used by the client's version.
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

    /// Returns the value without parameters; the draft defines none for these fields.
    private static func bare(_ name: FieldName, in request: HTTPRequest) -> [UInt8]? {
        guard let item = request.bytes(of: name)?.prefix(while: { $0 != UInt8(ascii: ";") }) else {
            return nil
        }
        return Array(Array(item)[Array(item).span.trimmedRange])
    }
}

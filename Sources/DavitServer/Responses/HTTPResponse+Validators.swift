public import DavitHTTP

/// Validators of what a handler makes (RFC 9110 §8.8).
///
/// A route for GET says what version its response is of, and the ``Router`` does the rest: 304 instead of the response for who
/// has it, 412 for who wants another one (§13). For methods that change something that is too late; a handler asks
/// ``DavitHTTP/Preconditions/evaluate(_:current:comparesForms:now:)`` before it does.
extension HTTPResponse {
    /// This response with an entity tag.
    ///
    /// - Parameters:
    ///   - version: any text that is another one for other content, as a hash or a number that counts changes. What no tag
    ///     may hold is percent-encoded.
    ///   - isWeak: the same version can be sent in different bytes.
    public func entityTag(_ version: String, isWeak: Bool = false) -> HTTPResponse {
        var opaque: [UInt8] = []
        for byte in version.utf8 {
            if byte <= 32 || byte >= 127 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "%") {
                PercentCoding.append(CollectionOfOne(byte), to: &opaque)
            } else {
                opaque.append(byte)
            }
        }
        var response = self
        response.fields.remove(.etag)
        response.fields.append(.etag, EntityTag(opaque: opaque, isWeak: isWeak).encoded)
        return response
    }

    /// This response with the time of the last change of what it shows; whole seconds count.
    public func lastModified(_ time: Timestamp) -> HTTPResponse {
        var response = self
        response.fields.remove(.lastModified)
        response.fields.append(.lastModified, HTTPDate.imf(time))
        return response
    }

    /// What is sent instead of this response where the request has conditions (RFC 9110 §13): 304 or 412. They count for
    /// GET and HEAD, and where the answer would be 200 (§13.2.1).
    package func conditional(for request: HTTPRequest) -> HTTPResponse {
        guard status == .ok, request.method == .get || request.method == .head,
            fields.contains(.etag) || fields.contains(.lastModified), Preconditions.stand(in: request)
        else { return self }
        let modified = fields.lastModified
        let outcome = Preconditions.evaluate(
            request, tag: fields.entityTag, modified: modified,
            // Only dates with two digits for the year, of which nobody sends any, need it; that of the change is as good.
            now: modified ?? Timestamp(seconds: 0))
        switch outcome {
        case .proceed: return self
        case .notModified: return notModified
        case .failed: return .preconditionFailed(for: request)
        }
    }

    /// Everything but what describes the content (§15.4.5).
    private var notModified: HTTPResponse {
        var response = HTTPResponse(.notModified, fields: fields)
        let metadata: [FieldName] = [
            .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentDisposition,
            .acceptRanges,
        ]
        for name in metadata { response.fields.remove(name) }
        if fields.contains(.etag) { response.fields.remove(.lastModified) }
        return response
    }

    /// 412 (§15.5.13).
    package static func preconditionFailed(for request: HTTPRequest) -> HTTPResponse {
        error(.preconditionFailed, "This is not the version that the request is about.", for: request)
    }
}

extension HTTPFields {
    var entityTag: EntityTag? {
        var tag: EntityTag?
        forEachValue(of: .etag) { tag = EntityTag.parse($0) }
        return tag
    }

    fileprivate var lastModified: Timestamp? {
        var time: Timestamp?
        forEachValue(of: .lastModified) { time = HTTPDate.parse($0, now: Timestamp(seconds: 0)) }
        return time
    }
}

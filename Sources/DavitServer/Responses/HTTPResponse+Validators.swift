public import DavitHTTP

/// Validators of what a handler makes (RFC 9110 §8.8).
///
/// A route for GET says what version its response is of, and the ``Router`` does the rest: 304 instead of the response for who
/// has it, 412 for who wants another one (§13). For methods that change something that is too late: they call
/// ``DavitHTTP/HTTPRequest/checkConditions(version:modified:)`` before they do.
extension HTTPResponse {
    /// This response with an entity tag.
    ///
    /// - Parameters:
    ///   - version: see ``DavitHTTP/EntityTag/init(version:isWeak:)``.
    ///   - isWeak: the same version can be sent in different bytes.
    public func entityTag(_ version: String, isWeak: Bool = false) -> HTTPResponse {
        var response = self
        response.fields.remove(.etag)
        response.fields.append(.etag, EntityTag(version: version, isWeak: isWeak).encoded)
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

extension HTTPRequest {
    /// For methods that change something: whether the client knows what it is about to change (RFC 9110 §13).
    ///
    /// - Parameters:
    ///   - version: of what is there now, as in ``DavitHTTP/HTTPResponse/entityTag(_:isWeak:)``; nil if nothing is.
    ///   - modified: when that was changed last, if known.
    /// - Throws: 412.
    public func checkConditions(version: String?, modified: Timestamp? = nil) throws(HTTPError) {
        let outcome = Preconditions.evaluate(
            self, exists: version != nil, tag: version.map { EntityTag(version: $0) }, modified: modified,
            now: modified ?? Timestamp(seconds: 0))
        guard outcome == .proceed else {
            throw HTTPError(.preconditionFailed, "This is not the version that the request is about.")
        }
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

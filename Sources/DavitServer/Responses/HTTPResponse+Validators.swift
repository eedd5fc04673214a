public import DavitHTTP

/// Validators for generated content (RFC 9110 §8.8).
///
/// A GET route sets the version of its response, and the ``Router`` evaluates the preconditions of the
/// request (§13): it responds with 304 if the client has that version, and with 412 if a precondition fails.
/// Routes for methods that change state must call
/// ``DavitHTTP/HTTPRequest/evaluatePreconditions(version:modified:)`` before the change.
extension HTTPResponse {
    /// Returns this response with an entity tag.
    ///
    /// - Parameters:
    ///   - version: see ``DavitHTTP/EntityTag/init(version:isWeak:)``.
    ///   - isWeak: whether one version may be sent as different bytes.
    public func entityTag(_ version: String, isWeak: Bool = false) -> HTTPResponse {
        var response = self
        response.fields.remove(.etag)
        response.fields.append(.etag, EntityTag(version: version, isWeak: isWeak).encoded)
        return response
    }

    /// Returns this response with a Last-Modified time, in whole seconds.
    public func lastModified(_ time: Timestamp) -> HTTPResponse {
        var response = self
        response.fields.remove(.lastModified)
        response.fields.append(.lastModified, time)
        return response
    }

    /// Returns this response, or 304 or 412 if the preconditions of the request require it (RFC 9110 §13).
    /// Preconditions are evaluated only for GET and HEAD, and only if the status would be 200 (§13.2.1) and
    /// the response has a validator.
    package func conditional(for request: HTTPRequest) -> HTTPResponse {
        guard status == .ok, request.method == .get || request.method == .head,
            fields.contains(.etag) || fields.contains(.lastModified), Preconditions.arePresent(in: request)
        else { return self }
        let modified = fields.lastModified
        let outcome = Preconditions.evaluate(
            request, tag: fields.entityTag, modified: modified,
            // The current time is needed only to interpret dates with two-digit years, which clients do not
            // send; the modification time is accurate enough.
            now: modified ?? Timestamp(seconds: 0))
        switch outcome {
        case .proceed: return self
        case .notModified: return notModified
        case .failed: return .preconditionFailed(for: request)
        }
    }

    /// A 304 response with all fields except those that describe the content, and without Last-Modified if
    /// there is an entity tag (§15.4.5).
    private var notModified: HTTPResponse {
        var response = HTTPResponse(status: .notModified, fields: fields)
        let metadata: [FieldName] = [
            .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentDisposition,
            .acceptRanges,
        ]
        for name in metadata { response.fields.remove(name) }
        if fields.contains(.etag) { response.fields.remove(.lastModified) }
        return response
    }

    /// Returns a 412 response (§15.5.13).
    package static func preconditionFailed(for request: HTTPRequest) -> HTTPResponse {
        error(.preconditionFailed, "A precondition of the request failed.", for: request)
    }
}

extension HTTPRequest {
    /// Evaluates the preconditions of a request that changes state (RFC 9110 §13).
    ///
    /// - Parameters:
    ///   - version: the current version, as passed to ``DavitHTTP/HTTPResponse/entityTag(_:isWeak:)``; nil if
    ///     the resource does not exist.
    ///   - modified: when the resource was last modified, if known.
    /// - Throws: 412 if a precondition fails.
    public func evaluatePreconditions(version: String?, modified: Timestamp? = nil) throws(HTTPError) {
        let outcome = Preconditions.evaluate(
            self, exists: version != nil, tag: version.map { EntityTag(version: $0) }, modified: modified,
            now: modified ?? Timestamp(seconds: 0))
        guard outcome == .proceed else {
            throw HTTPError(.preconditionFailed, "A precondition of the request failed.")
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

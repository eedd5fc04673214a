extension HTTPResponse {
    /// Returns the response to GET or HEAD for stored content, evaluating preconditions (RFC 9110 §13) and
    /// then ranges (§14).
    ///
    /// - Parameters:
    ///   - matchesAnyCoding: whether the entity tags of the unencoded and the gzip-coded representation match
    ///     each other; see ``Preconditions/evaluate(_:current:matchesAnyCoding:now:)``.
    ///   - allowsRange: if false, the Range field is ignored.
    ///   - now: the time of the request.
    /// - Returns: 200, 206, 304 or 416; 412 without content, so that the caller can add an explanation.
    package static func stored(
        _ content: any FileContent, _ head: ContentHead, for request: HTTPRequest,
        matchesAnyCoding: Bool = false, allowsRange: Bool = true, now: Timestamp
    ) -> HTTPResponse {
        let outcome = Preconditions.evaluate(
            request, current: (tag: head.tag, modified: head.modified), matchesAnyCoding: matchesAnyCoding,
            now: now
        )
        switch outcome {
        case .failed: return HTTPResponse(status: .preconditionFailed)
        case .notModified: return HTTPResponse(status: .notModified, fields: head.notModified)
        case .proceed: break
        }
        let length = content.length
        switch allowsRange ? ranges(request, head, length: length, now: now) : .whole {
        case .whole:
            return HTTPResponse(
                status: .ok, fields: head.fields, body: content.body(from: 0, length: length))
        case .single(let range):
            var response = HTTPResponse(
                status: .partialContent, fields: head.fields,
                body: content.body(from: range.offset, length: range.length))
            response.fields.append(.contentRange, ByteRanges.contentRange(range, of: length))
            return response
        case .multiple(let ranges): return multipart(content, head, ranges)
        case .unsatisfiable:
            var response = HTTPResponse(status: .rangeNotSatisfiable, fields: head.fieldsWithoutType)
            response.fields.remove(.contentEncoding)
            response.fields.append(.contentRange, ByteRanges.unsatisfiedContentRange(of: length))
            return response
        }
    }

    private static func ranges(
        _ request: HTTPRequest, _ head: ContentHead, length: Int64, now: Timestamp
    ) -> RangeOutcome {
        guard Preconditions.rangeApplies(request, tag: head.tag, modified: head.modified, now: now) else {
            return .whole
        }
        let outcome = ByteRanges.resolve(request, length: length)
        // RFC 9110 does not specify whether the content coding would apply to each part or to the entire
        // multipart content, so the complete content is sent instead.
        if head.isCoded, case .multiple = outcome { return .whole }
        return outcome
    }

    private static func multipart(
        _ content: any FileContent, _ head: ContentHead, _ ranges: [ByteRange]
    ) -> HTTPResponse {
        var response = HTTPResponse(status: .partialContent, fields: head.fieldsWithoutType)
        let boundary = randomBoundary()
        response.fields.append(.contentType, ByteRanges.multipartContentType(boundary: boundary))
        let segments = ByteRanges.multipart(
            ranges: ranges, length: content.length, contentType: head.type, boundary: boundary)
        response.body = content.body(of: segments)
        return response
    }

    /// Returns an unpredictable boundary, so that stored content cannot be crafted to contain it (RFC 2046
    /// §5.1.1).
    private static func randomBoundary() -> [UInt8] {
        let number = UInt64.random(in: .min ... .max)
        return Array(("davit-" + String(number, radix: 16)).utf8)
    }
}

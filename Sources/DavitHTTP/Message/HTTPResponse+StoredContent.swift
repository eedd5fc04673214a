extension HTTPResponse {
    /// What GET and HEAD get of stored content: the conditions of the request (RFC 9110 §13), then its ranges (§14).
    ///
    /// - Parameters:
    ///   - comparesForms: a tag of the content in a coding stands for the content as it is, and the other way round; see
    ///     ``Preconditions/evaluate(_:current:comparesForms:now:)``.
    ///   - allowsRange: if false, a Range field means nothing.
    ///   - now: the instant of the request.
    /// - Returns: 200, 206, 304 or 416; 412 without content, for the caller to explain.
    package static func stored(
        _ content: any FileContent, _ head: ContentHead, for request: HTTPRequest,
        comparesForms: Bool = false, allowsRange: Bool = true, now: Timestamp
    ) -> HTTPResponse {
        let outcome = Preconditions.evaluate(
            request, current: (tag: head.tag, modified: head.modified), comparesForms: comparesForms, now: now
        )
        switch outcome {
        case .failed: return HTTPResponse(.preconditionFailed)
        case .notModified: return HTTPResponse(.notModified, fields: head.notModified)
        case .proceed: break
        }
        let length = content.length
        switch allowsRange ? ranges(request, head, length: length, now: now) : .whole {
        case .whole:
            return HTTPResponse(
                .ok, fields: head.fields, body: .file(content, offset: 0, length: length))
        case .single(let range):
            var response = HTTPResponse(
                .partialContent, fields: head.fields,
                body: .file(content, offset: range.offset, length: range.length))
            response.fields.append(.contentRange, ByteRanges.contentRange(range, of: length))
            return response
        case .multiple(let ranges): return multipart(content, head, ranges)
        case .unsatisfiable:
            var response = HTTPResponse(.rangeNotSatisfiable, fields: head.fieldsWithoutType)
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
        // Nobody has said what is coded there: the parts, or all of the multipart.
        if head.isCoded, case .multiple = outcome { return .whole }
        return outcome
    }

    private static func multipart(
        _ content: any FileContent, _ head: ContentHead, _ ranges: [ByteRange]
    ) -> HTTPResponse {
        var response = HTTPResponse(.partialContent, fields: head.fieldsWithoutType)
        let boundary = randomBoundary()
        response.fields.append(.contentType, ByteRanges.multipartContentType(boundary: boundary))
        let segments = ByteRanges.multipart(
            ranges: ranges, length: content.length, contentType: head.type, boundary: boundary)
        response.body = .segments(content, segments)
        return response
    }

    /// Hex digits nobody can know in advance, so that no stored content holds them (RFC 2046 §5.1.1).
    private static func randomBoundary() -> [UInt8] {
        let number = UInt64.random(in: .min ... .max)
        return Array(("davit-" + String(number, radix: 16)).utf8)
    }
}

internal import DavitHTTP
internal import DavitStore

/// GET and HEAD (RFC 9110 §9.3.1, RFC 4918 §9.4): stored content as it is, with conditions and ranges.
struct GetMethod: Sendable {
    let share: Share
    let page: (any CollectionPage)?

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let resources = share.resources
        let resource = try await share.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in try resources.open(context.path, wait: wait) }
        }
        if context.ifHeader != nil { try await checkIf(context, resource.info) }
        let (tag, modified) = (
            resource.info.isCollection ? nil : resource.info.entityTag, resource.info.modified
        )
        let outcome = Preconditions.evaluate(
            context.request, current: (tag: tag, modified: modified), now: context.now)
        switch outcome {
        case .failed: throw WebDAVError(.preconditionFailed)
        // The page shows its members, and the time of a collection says nothing about theirs (RFC 9110 §13.1.3).
        case .notModified where resource.content == nil && !context.request.contains(.ifNoneMatch): break
        case .notModified:
            var response = HTTPResponse(.notModified)
            if let tag { response.fields.append(.etag, tag.encoded) }
            return response
        case .proceed: break
        }
        guard let content = resource.content, let tag else {
            return try await collection(context, resource.info)
        }
        if context.endsInSlash { throw WebDAVError(.notFound) }
        return contentResponse(context, content, resource.info, tag)
    }

    private func checkIf(_ context: RequestContext, _ info: ResourceInfo) async throws(WebDAVError) {
        let share = share
        try await share.attempt { wait throws(WebDAVError) in
            let path = try storing { () throws(StoreError) in
                try share.look(at: context.path, wait: wait).path
            }
            try WriteGuard(share: share, context: context, wait: wait).checkIf(target: info, path: path)
        }
    }

    private func collection(
        _ context: RequestContext, _ info: ResourceInfo
    ) async throws(WebDAVError) -> HTTPResponse {
        if let page {
            let (share, path) = (share, context.path)
            let target = try await share.attempt { wait throws(WebDAVError) in
                try storing { () throws(StoreError) in try share.look(at: path, wait: wait).path }
            }
            let visit = CollectionVisit(
                path: path, endsInSlash: context.endsInSlash, share: share, target: target)
            do throws(HTTPError) { return try await page.response(to: visit) } catch {
                throw WebDAVError(connection: error)
            }
        }
        var response = HTTPResponse(.ok)
        response.fields.append(.lastModified, HTTPDate.imf(info.modified))
        return response
    }

    private func contentResponse(
        _ context: RequestContext, _ content: any FileContent, _ info: ResourceInfo, _ tag: EntityTag
    ) -> HTTPResponse {
        let request = context.request
        let type = MediaType.forName(context.path.name)
        let isPartial = Preconditions.rangeApplies(
            request, tag: tag, modified: info.modified, now: context.now)
        let outcome = isPartial ? ByteRanges.resolve(request, length: content.length) : .whole
        var response = HTTPResponse(.ok)
        response.fields.append(.etag, tag.encoded)
        response.fields.append(.lastModified, HTTPDate.imf(info.modified))
        response.fields.append(.acceptRanges, "bytes")
        response.fields.append(.xContentTypeOptions, "nosniff")
        if MediaType.isActive(type) {
            // Stored HTML and SVG may run, but never with the origin of this server.
            response.fields.append(.contentSecurityPolicy, "sandbox")
        }
        switch outcome {
        case .whole:
            response.fields.append(.contentType, type)
            response.body = .file(content, offset: 0, length: content.length)
        case .single(let range):
            response.status = .partialContent
            response.fields.append(.contentType, type)
            response.fields.append(.contentRange, ByteRanges.contentRange(range, of: content.length))
            response.body = .file(content, offset: range.offset, length: range.length)
        case .multiple(let ranges):
            response.status = .partialContent
            let boundary = Self.randomBoundary()
            response.fields.append(.contentType, ByteRanges.multipartContentType(boundary: boundary))
            let segments = ByteRanges.multipart(
                ranges: ranges, length: content.length, contentType: Array(type.description.utf8),
                boundary: boundary)
            response.body = .segments(content, segments)
        case .unsatisfiable:
            response.status = .rangeNotSatisfiable
            response.fields.append(.contentRange, ByteRanges.unsatisfiedContentRange(of: content.length))
        }
        return response
    }

    /// Hex digits nobody can know in advance, so that no stored content holds them (RFC 2046 §5.1.1).
    private static func randomBoundary() -> [UInt8] {
        let number = UInt64.random(in: .min ... .max)
        return Array(("davit-" + String(number, radix: 16)).utf8)
    }
}

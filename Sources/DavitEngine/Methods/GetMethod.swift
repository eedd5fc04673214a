internal import DavitHTTP
internal import DavitStore

/// GET and HEAD (RFC 9110 §9.3.1, RFC 4918 §9.4): stored content as it is, with conditions and ranges.
struct GetMethod: Sendable {
    let share: Share
    let page: (any CollectionPage)?

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let resource = try await open(context.path)
        if context.ifHeader != nil { try await checkIf(context, resource.info) }
        if let response = try response(context, resource) { return response }
        return try await collection(context, resource.info)
    }

    /// As ``respond(_:)`` for a request without `If`, if nothing has to be waited for.
    /// - Returns: nil for a collection.
    /// - Throws: also what says that it would have to wait.
    func respondAtOnce(_ context: RequestContext) throws(WebDAVError) -> HTTPResponse? {
        try response(
            context, storing { () throws(StoreError) in try share.resources.open(context.path, wait: .never) }
        )
    }

    /// Opens on the event loop, where it must not wait; if it would, on another thread.
    private func open(_ path: ResourcePath) async throws(WebDAVError) -> OpenResource {
        let resources = share.resources
        return try await share.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in try resources.open(path, wait: wait) }
        }
    }

    /// - Returns: nil for a collection that is to be shown.
    private func response(
        _ context: RequestContext, _ resource: OpenResource
    ) throws(WebDAVError) -> HTTPResponse? {
        let (head, modified) = (resource.content?.head, resource.info.modified)
        let outcome = Preconditions.evaluate(
            context.request, current: (tag: head?.tag, modified: modified), now: context.now)
        switch outcome {
        case .failed: throw WebDAVError(.preconditionFailed)
        // The page shows its members, and the time of a collection says nothing about theirs (RFC 9110 §13.1.3).
        case .notModified where head == nil && !context.request.contains(.ifNoneMatch): break
        case .notModified: return HTTPResponse(.notModified, fields: head?.notModified ?? HTTPFields())
        case .proceed: break
        }
        guard let content = resource.content else { return nil }
        if context.endsInSlash { throw WebDAVError(.notFound) }
        return contentResponse(context, content, resource.info)
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
                path: path, endsInSlash: context.endsInSlash && !context.isMountItself,
                mountName: Array(context.mount.name), share: share, target: target)
            do throws(HTTPError) { return try await page.response(to: visit) } catch {
                throw WebDAVError(connection: error)
            }
        }
        var response = HTTPResponse(.ok)
        response.fields.append(.lastModified, HTTPDate.imf(info.modified))
        return response
    }

    private func contentResponse(
        _ context: RequestContext, _ content: OpenContent, _ info: ResourceInfo
    ) -> HTTPResponse {
        let (request, file, head) = (context.request, content.file, content.head)
        let isPartial = Preconditions.rangeApplies(
            request, tag: head.tag, modified: info.modified, now: context.now)
        switch isPartial ? ByteRanges.resolve(request, length: file.length) : .whole {
        case .whole:
            return HTTPResponse(
                .ok, fields: head.fields, body: .file(file, offset: 0, length: file.length))
        case .single(let range):
            var response = HTTPResponse(
                .partialContent, fields: head.fields,
                body: .file(file, offset: range.offset, length: range.length))
            response.fields.append(.contentRange, ByteRanges.contentRange(range, of: file.length))
            return response
        case .multiple(let ranges):
            var response = HTTPResponse(.partialContent, fields: head.fieldsWithoutType(info))
            let boundary = Self.randomBoundary()
            response.fields.append(.contentType, ByteRanges.multipartContentType(boundary: boundary))
            let segments = ByteRanges.multipart(
                ranges: ranges, length: file.length, contentType: Array(head.type.description.utf8),
                boundary: boundary)
            response.body = .segments(file, segments)
            return response
        case .unsatisfiable:
            var response = HTTPResponse(.rangeNotSatisfiable, fields: head.fieldsWithoutType(info))
            response.fields.append(.contentRange, ByteRanges.unsatisfiedContentRange(of: file.length))
            return response
        }
    }

    /// Hex digits nobody can know in advance, so that no stored content holds them (RFC 2046 §5.1.1).
    private static func randomBoundary() -> [UInt8] {
        let number = UInt64.random(in: .min ... .max)
        return Array(("davit-" + String(number, radix: 16)).utf8)
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// GET and HEAD (RFC 9110 §9.3.1, RFC 4918 §9.4): returns stored content unmodified, or the browser page or change
/// events of a collection. Supports preconditions and, for content, ranges.
struct GetMethod: Sendable {
    let share: Share
    let page: (any CollectionPage)?

    func respond(_ context: RequestContext) throws(WebDAVError) -> Reply {
        if let file = try pageFile(context) { return .ready(file) }
        let resource: OpenResource
        do throws(WebDAVError) { resource = try open(context.path, .never) } catch {
            guard error.wouldBlock else { throw error }
            return .pending { () async throws(HTTPError) in
                try await withErrorPage(context) { () async throws(WebDAVError) in
                    let resource = try await share.work.opening(context.path) { wait throws(WebDAVError) in
                        try self.open(context.path, wait)
                    }
                    return try await respond(context, resource)
                }
            }
        }
        if needsToWait(context, resource) {
            return .pending { () async throws(HTTPError) in
                try await withErrorPage(context) { () async throws(WebDAVError) in
                    try await respond(context, resource)
                }
            }
        }
        if let response = try response(context, resource) { return .ready(response) }
        return .pending { () async throws(HTTPError) in
            try await withErrorPage(context) { () async throws(WebDAVError) in
                try await collection(context, resource.info)
            }
        }
    }

    /// Returns the response of `work`. For an error, returns an error page if the client prefers HTML.
    private nonisolated(nonsending) func withErrorPage(
        _ context: RequestContext,
        _ work: nonisolated(nonsending) () async throws(WebDAVError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        do throws(WebDAVError) { return try await work() } catch {
            if let errorPage = page?.response(to: context.request, refusedWith: error, by: share) {
                return errorPage
            }
            return try error.responseOrRethrow()
        }
    }

    /// Whether the response may require access to the disk or the database although the resource is open: for `If`, which
    /// can refer to other resources, for a digest, which may have to be computed, or for the language.
    private func needsToWait(_ context: RequestContext, _ resource: OpenResource) -> Bool {
        context.ifHeader != nil || WantDigest.isIn(context.request)
            || share.languages.has(resource, at: resource.canonicalPath ?? context.path)
    }

    private func respond(
        _ context: RequestContext, _ resource: OpenResource
    ) async throws(WebDAVError) -> HTTPResponse {
        if context.ifHeader != nil { try await checkIf(context, resource.info) }
        if var response = try response(context, resource) {
            try await addLanguage(to: &response, of: resource, context)
            if WantDigest.isIn(context.request) {
                try await WantDigest(context.request).fulfill(
                    in: &response, for: resource, at: resource.canonicalPath ?? context.path,
                    from: share.digests,
                    for: context.client)
            }
            return response
        }
        return try await collection(context, resource.info)
    }

    /// Adds `Content-Language` with the value of `getcontentlanguage` (RFC 4918 §15.3).
    private func addLanguage(
        to response: inout HTTPResponse, of resource: OpenResource, _ context: RequestContext
    ) async throws(WebDAVError) {
        switch response.status {
        case .ok: break
        // RFC 9110 §15.3.7: a client that sends If-Range already has the fields of the representation.
        case .partialContent where !context.request.contains(.ifRange): break
        default: return
        }
        let path = resource.canonicalPath ?? context.path
        if let language = try await share.languages.language(at: path, of: resource) {
            response.fields.append(.contentLanguage, language.description)
        }
    }

    /// Returns the response for a file of the browser page.
    /// - Returns: nil if the path is not that of such a file.
    /// - Throws: 404 if the page has no file at the path.
    private func pageFile(_ context: RequestContext) throws(WebDAVError) -> HTTPResponse? {
        guard let path = PageFilePath.rest(of: context.path) else { return nil }
        guard let file = page?.file(at: path, for: context.request) else { throw WebDAVError(.notFound) }
        return file
    }

    private func open(_ path: ResourcePath, _ wait: Wait) throws(WebDAVError) -> OpenResource {
        do throws(StoreError) { return try share.resources.open(path, wait: wait) } catch {
            throw WebDAVError(reading: error)
        }
    }

    /// - Returns: nil for a collection that must be listed.
    private func response(
        _ context: RequestContext, _ resource: OpenResource
    ) throws(WebDAVError) -> HTTPResponse? {
        guard let content = resource.content else { return try conditionalResponse(context, resource.info) }
        if context.endsInSlash { throw WebDAVError(.notFound) }
        let response = HTTPResponse.stored(
            content.file, content.head, for: context.request, now: context.now)
        if response.status == .preconditionFailed { throw WebDAVError(.preconditionFailed) }
        if let completed = share.configuration.hooks.completed, context.request.method == .get,
            response.status == .ok || response.status == .partialContent
        {
            completed(
                ShareAction(
                    downloadOf: resource.canonicalPath ?? context.path, principal: context.principal,
                    locatedBy: share.configuration.filePath))
        }
        return response
    }

    /// Evaluates the preconditions of a request for a collection.
    /// - Returns: a 304 response; nil if the collection must be listed.
    /// - Throws: 412 if a precondition fails.
    private func conditionalResponse(
        _ context: RequestContext, _ info: ResourceInfo
    ) throws(WebDAVError) -> HTTPResponse? {
        let outcome = Preconditions.evaluate(
            context.request, current: (tag: nil, modified: info.modified), now: context.now)
        switch outcome {
        case .failed: throw WebDAVError(.preconditionFailed)
        // Ignore If-Modified-Since: the page shows the members, whose changes do not always change the modification
        // time of the collection (RFC 9110 §13.1.3).
        case .notModified where !context.request.contains(.ifNoneMatch): return nil
        case .notModified: return HTTPResponse(status: .notModified)
        case .proceed: return nil
        }
    }

    private func checkIf(_ context: RequestContext, _ info: ResourceInfo) async throws(WebDAVError) {
        let share = share
        try await share.work.attempt { wait throws(WebDAVError) in
            let path = try storing { () throws(StoreError) in
                try share.lookup.resource(at: context.path, wait: wait).path
            }
            try WriteGuard(share: share, context: context, wait: wait).checkIf(target: info, path: path)
        }
    }

    private func collection(
        _ context: RequestContext, _ info: ResourceInfo
    ) async throws(WebDAVError) -> HTTPResponse {
        if ChangeEventsMethod.isRequested(context.request) {
            return try await ChangeEventsMethod(share: share).respond(context)
        }
        if let page {
            let visit = try await PageContext(to: context, share)
            do throws(HTTPError) { return try await page.response(to: visit) } catch {
                throw WebDAVError(connection: error)
            }
        }
        var response = HTTPResponse(status: .ok)
        if !info.isPassage { response.fields.append(.lastModified, info.modified) }
        return response
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// PROPFIND (RFC 4918 §9.1): properties of the target and, as far as Depth goes, of its members.
struct PropFindMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let depth = try depth(of: context.request)
        let body = try await share.wholeBody(context)
        let plan = try share.plans.plan(for: body)
        if Principals.isAbove(context.path) { return try respondAboutPrincipals(context, plan, depth) }
        let lookup = try await share.attempt { wait throws(WebDAVError) in try share.find(context, wait) }
        return try await respond(context, plan, depth, lookup)
    }

    /// The properties that a plan asks for, of what has been looked up.
    func respond(
        _ context: RequestContext, _ plan: PropFindPlan, _ depth: Depth, _ lookup: Lookup
    ) async throws(WebDAVError) -> HTTPResponse {
        let stream = try stream(context, plan, depth, lookup)
        if plan.wantsSyncToken, lookup.info?.isCollection == true, share.journal != nil {
            // Before anything is looked at: what changes meanwhile is told to whoever asks with the token.
            let position = try await share.compared(lookup.path, isDeep: true)
            stream.syncToken = (SyncToken(position).text, lookup.path)
        }
        if stream.isOfOneResource {
            if let bytes = try await stream.whole() { return Self.response(.bytes(bytes), context) }
            return Self.response(.stream(stream), context)
        }
        // Before the head is out: what cannot be read at all has a status.
        try await stream.start()
        return Self.response(.stream(stream), context, excludesRoot: stream.excludesRoot)
    }

    /// As ``respond(_:)`` for Depth 0 without `If`, if nothing has to be waited for.
    /// - Returns: nil for other depths, and where the disk or the database would be asked.
    /// - Throws: also what says that it would have to wait.
    func respondAtOnce(_ context: RequestContext) throws(WebDAVError) -> HTTPResponse? {
        let depth = try depth(of: context.request)
        guard depth == .zero, let bytes = context.request.body.arrived,
            bytes.count <= share.configuration.bodyLimitBytes
        else { return nil }
        let plan = try share.plans.plan(for: XMLBody(bytes: bytes, charset: context.request.xmlCharset))
        if Principals.isAbove(context.path) { return try respondAboutPrincipals(context, plan, depth) }
        if plan.wantsSyncToken, share.journal != nil { return nil }
        let stream = try stream(context, plan, depth, try share.find(context, .never))
        return try stream.wholeAtOnce().map { Self.response(.bytes($0), context) }
    }

    private static func response(
        _ body: HTTPBody, _ context: RequestContext, excludesRoot: Bool = false
    ) -> HTTPResponse {
        var response = HTTPResponse.multistatus(body: body)
        ResponsePreferences(context.request).append(to: &response.fields, result: true, root: excludesRoot)
        return response
    }

    /// §9.1: absent means infinity; where that is switched off an absent Depth is read as 1.
    private func depth(of request: HTTPRequest) throws(WebDAVError) -> Depth {
        try Depth.asked(in: request, fallback: share.configuration.allowsInfiniteDepth ? .infinity : .one)
    }

    private func stream(
        _ context: RequestContext, _ plan: PropFindPlan, _ depth: Depth, _ lookup: Lookup
    ) throws(WebDAVError) -> PropFindStream {
        let info = try lookup.mapped(for: context)
        if info.isCollection && depth == .infinity && !share.configuration.allowsInfiniteDepth {
            throw WebDAVError(.forbidden, .propfindFiniteDepth)
        }
        return PropFindStream(
            share: share, context: context, plan: plan, depth: depth, target: lookup.path, info: info)
    }

    /// A principal sees itself and nobody else.
    private func respondAboutPrincipals(
        _ context: RequestContext, _ plan: PropFindPlan, _ depth: Depth
    ) throws(WebDAVError) -> HTTPResponse {
        let responses = PropertyResponses(share: share, context: context, plan: plan)
        let principals = responses.principals
        guard let resource = principals.resource(at: context.path), resource != .absent else {
            throw WebDAVError(.notFound)
        }
        responses.writer.begin()
        responses.writeResponse(
            href: resource == .user ? context.href : principals.collectionHref, about: resource)
        if resource == .collection, depth != .zero, let href = principals.userHref {
            responses.writeResponse(href: href, about: .user)
        }
        responses.writer.end()
        return .multistatus(body: .bytes(responses.writer.drain()))
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// PROPFIND (RFC 4918 §9.1): returns properties of the target and, depending on Depth, of resources below it.
struct PropFindMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) throws(WebDAVError) -> Reply {
        let depth = try depth(of: context.request)
        if depth == .zero, context.ifHeader == nil, let bytes = context.request.body.arrived,
            bytes.count <= share.configuration.bodyLimitBytes,
            let response = try respond(context, bytes)
        {
            return .ready(response)
        }
        return .pending { () async throws(HTTPError) in
            try await WebDAVError.converted { () async throws(WebDAVError) in
                try await respond(context, depth)
            }
        }
    }

    /// Responds to Depth 0 without waiting.
    /// - Returns: nil if the response requires waiting for the disk or the database.
    private func respond(_ context: RequestContext, _ body: [UInt8]) throws(WebDAVError) -> HTTPResponse? {
        let plan = try share.plans.plan(for: XMLBody(bytes: body, charset: context.request.xmlCharset))
        if Principals.collection.contains(context.path) {
            let responses = PropertyResponses(share: share, context: context, plan: plan)
            return responses.needsSlot ? nil : try respondAboutPrincipals(context, responses, .zero)
        }
        if plan.wantsSyncToken, share.journal != nil { return nil }
        do throws(WebDAVError) {
            let stream = try stream(
                context, plan, .zero, try WriteGuard.readTarget(context, of: share, .never))
            return try stream.wholeWithoutWaiting().map { Self.response(.bytes($0), context) }
        } catch {
            if error.wouldBlock { return nil }
            throw error
        }
    }

    private func respond(
        _ context: RequestContext, _ depth: Depth
    ) async throws(WebDAVError) -> HTTPResponse {
        let body = try await share.xmlBodies.read(context)
        let plan = try share.plans.plan(for: body)
        if Principals.collection.contains(context.path) {
            return try await respondAboutPrincipals(context, plan, depth)
        }
        let lookup = try await share.work.attempt { wait throws(WebDAVError) in
            try WriteGuard.readTarget(context, of: share, wait)
        }
        return try await respond(context, plan, depth, lookup)
    }

    /// Responds with the requested properties of a target that has already been looked up.
    func respond(
        _ context: RequestContext, _ plan: PropFindPlan, _ depth: Depth, _ lookup: Lookup
    ) async throws(WebDAVError) -> HTTPResponse {
        let stream = try stream(context, plan, depth, lookup)
        if plan.wantsSyncToken, lookup.info?.isCollection == true, let journal = share.journal {
            // Take the token before reading the properties, so that changes made in the meantime are reported to a
            // client that sends the token.
            let position = try await journal.compared(lookup.path, isDeep: true)
            stream.setSyncToken(
                SyncToken(position, view: share.tokenView).text, root: lookup.path)
        }
        if stream.isOfOneResource {
            if let bytes = try await stream.whole() { return Self.response(.bytes(bytes), context) }
            return Self.response(.stream(stream), context)
        }
        // Begin before the header section is sent, so that an unreadable target results in an error status.
        try await stream.begin()
        return Self.response(.stream(stream), context, excludesRoot: stream.excludesRoot)
    }

    private static func response(
        _ body: HTTPBody, _ context: RequestContext, excludesRoot: Bool = false
    ) -> HTTPResponse {
        var response = HTTPResponse.multistatus(body: body)
        ResponsePreferences(context.request).append(to: &response.fields, result: true, root: excludesRoot)
        return response
    }

    /// Returns the requested depth. The default is infinity (§9.1), or 1 if infinite depth is disabled.
    private func depth(of request: HTTPRequest) throws(WebDAVError) -> Depth {
        try Depth.requested(in: request, fallback: share.configuration.allowsInfiniteDepth ? .infinity : .one)
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

    private func respondAboutPrincipals(
        _ context: RequestContext, _ plan: PropFindPlan, _ depth: Depth
    ) async throws(WebDAVError) -> HTTPResponse {
        let responses = PropertyResponses(share: share, context: context, plan: plan)
        guard responses.needsSlot else { return try respondAboutPrincipals(context, responses, depth) }
        let slot = try await share.largeReads.enter(for: context)
        var response = try respondAboutPrincipals(context, responses, depth)
        if case .bytes(let bytes) = response.body { response.body = .stream(LargeBody(bytes, slot)) }
        return response
    }

    /// Responds to a request for the principal collection or a principal. Users see only their own principal.
    private func respondAboutPrincipals(
        _ context: RequestContext, _ responses: PropertyResponses, _ depth: Depth
    ) throws(WebDAVError) -> HTTPResponse {
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

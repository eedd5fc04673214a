internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// PROPFIND (RFC 4918 §9.1): properties of the target and, as far as Depth goes, of its members.
struct PropFindMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let depth = try depth(of: context.request)
        let bytes = try await context.request.wholeBody(limitBytes: share.configuration.bodyLimitBytes)
        let plan = try share.plans.plan(for: bytes)
        let lookup = try await share.attempt { wait throws(WebDAVError) in try share.find(context, wait) }
        let stream = try stream(context, plan, depth, lookup)
        if plan.wantsSyncToken, lookup.info?.isCollection == true, share.journal != nil {
            // Before anything is looked at: what changes meanwhile is told to whoever asks with the token.
            stream.syncToken = SyncToken(try await share.compared(lookup.path, isDeep: true)).text
        }
        if stream.isOfOneResource { return .multistatus(body: .bytes(try await stream.whole())) }
        // Before the head is out: what cannot be read at all has a status.
        try await stream.start()
        return .multistatus(body: .stream(stream))
    }

    /// As ``respond(_:)`` for Depth 0 without `If`, if nothing has to be waited for.
    /// - Returns: nil for other depths, and where the disk or the database would be asked.
    /// - Throws: also what says that it would have to wait.
    func respondAtOnce(_ context: RequestContext) throws(WebDAVError) -> HTTPResponse? {
        let depth = try depth(of: context.request)
        guard depth == .zero, let bytes = context.request.body.arrived,
            bytes.count <= share.configuration.bodyLimitBytes
        else { return nil }
        let plan = try share.plans.plan(for: bytes)
        if plan.wantsSyncToken, share.journal != nil { return nil }
        let stream = try stream(context, plan, depth, try share.find(context, .never))
        return try stream.wholeAtOnce().map { .multistatus(body: .bytes($0)) }
    }

    /// §9.1: absent means infinity; where that is switched off an absent Depth is read as 1.
    private func depth(of request: HTTPRequest) throws(WebDAVError) -> Depth {
        let fallback: Depth = share.configuration.allowsInfiniteDepth ? .infinity : .one
        return try Depth.asked(in: request, fallback: fallback)
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
}

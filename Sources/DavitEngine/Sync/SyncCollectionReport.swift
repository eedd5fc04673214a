internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The sync-collection report (RFC 6578 §3.2): the changes in a collection since the previous response.
struct SyncCollectionReport: Sendable {
    let share: Share
    let body: SyncCollectionBody

    /// - Parameters:
    ///   - path: Canonical path of the target.
    ///   - info: The resource at `path`.
    func respond(
        _ context: RequestContext, _ depth: Depth, _ path: ResourcePath, _ info: ResourceInfo
    ) async throws(WebDAVError) -> HTTPResponse {
        guard let journal = share.journal, info.isCollection else {
            throw WebDAVError(.forbidden, .supportedReport)
        }
        // §3.2: Depth must be 0; the actual depth is in sync-level.
        guard depth == .zero else { throw WebDAVError(.badRequest) }
        let token = try sentToken()
        let plan = PropFindPlan(.prop(body.properties))
        let position = try await journal.compared(
            path, isDeep: body.level == .infinite || plan.wantsSyncToken)
        let view = share.tokenView
        if let token, !token.isValid(at: position) || token.view != view {
            throw WebDAVError(.forbidden, .validSyncToken)
        }
        let responses = PropertyResponses(share: share, context: context, plan: plan)
        if plan.wantsSyncToken { responses.syncToken = (SyncToken(position, view: view).text, path) }
        let stream = SyncCollectionStream(
            share: share, journal: journal, context: context, target: path, body: body, responses: responses,
            since: token
                ?? SyncToken(journal: position.journal, number: 0, base: position.last, view: view),
            through: position)
        // Start before the response head is sent, so that an unreadable target still gets an error status.
        try await stream.start()
        return .multistatus(body: .stream(stream))
    }

    private func sentToken() throws(WebDAVError) -> SyncToken? {
        if body.token.isEmpty { return nil }
        guard let token = SyncToken(parsing: body.token) else {
            throw WebDAVError(.forbidden, .validSyncToken)
        }
        return token
    }
}

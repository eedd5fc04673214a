internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// REPORT (RFC 3253 §3.6): the root element of the request body selects the report.
struct ReportMethod: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        // §3.6: the default is 0.
        let depth = try Depth.requested(in: context.request, fallback: .zero)
        let content = try await share.xmlBodies.read(context)
        let body = try parsing { () throws(BodyError) in
            try ReportBody.parse(content.bytes, charset: content.charset, limits: content.limits)
        }
        if Principals.collection.contains(context.path) { throw WebDAVError(.forbidden, .supportedReport) }
        let share = share
        let lookup = try await share.work.attempt { wait throws(WebDAVError) in
            try WriteGuard.readTarget(context, of: share, wait)
        }
        // Check that the target exists before checking whether the report is supported.
        let info = try lookup.mapped(for: context)
        switch body {
        case .expandProperty(let properties):
            return try await PropFindMethod(share: share).respond(
                context, PropFindPlan(expanding: properties), depth, lookup)
        case .syncCollection(let body):
            let report = SyncCollectionReport(share: share, body: body)
            return try await report.respond(context, depth, lookup.path, info)
        case .trash:
            // Existing entries are reported even if the trash is now disabled.
            guard share.configuration.trash != nil || share.state.hasTrash else {
                throw WebDAVError(.forbidden, .supportedReport)
            }
            return try await TrashReport(share: share).respond(context, depth, lookup.path)
        case .unknown: throw WebDAVError(.forbidden, .supportedReport)
        }
    }
}

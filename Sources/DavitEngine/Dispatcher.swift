public import DavitHTTP
public import DavitServer
internal import DavitStore

/// The HTTP handler for WebDAV: dispatches each request to its method and converts errors to responses.
public struct WebDAVHandler: Handler {
    private let share: Share
    private let page: (any CollectionPage)?

    /// - Parameter page: generates the response to GET on a collection; nil to respond with header fields
    ///   only.
    public init(share: Share, page: (any CollectionPage)?) {
        self.share = share
        self.page = page
    }

    /// The value of ``OptionsMethod/complianceFields``, for OPTIONS requests to paths above a mount.
    public var announcedFields: HTTPFields { OptionsMethod.complianceFields }

    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let response: HTTPResponse
        do throws(WebDAVError) {
            response = try await dispatch(request)
        } catch {
            if let connectionError = error.connectionError { throw connectionError }
            response = refusal(of: request, error) ?? error.response()
        }
        return request.contains(.prefer) ? await share.withRepresentation(response, for: request) : response
    }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        // `If` can refer to other resources, which requires more than one lookup.
        if request.contains(.if) { return nil }
        // Resumable uploads span several requests.
        if DraftFields.stand(in: request) { return nil }
        do throws(WebDAVError) {
            switch request.method {
            case .get, .head:
                let context = try RequestContext(request, now: share.now())
                if UploadResource.isAbove(context.path) { return nil }
                return try GetMethod(share: share, page: page).respondAtOnce(context)
            case .propfind where request.target.form != .asterisk:
                let context = try RequestContext(request, now: share.now())
                if UploadResource.isAbove(context.path) { return nil }
                return try PropFindMethod(share: share).respondAtOnce(context)
            case .delete, .mkcol, .move, .put:
                guard request.target.form != .asterisk, !share.configuration.isReadOnly,
                    share.resources.changesAtOnce
                else { return nil }
                return try changeAtOnce(RequestContext(request, now: share.now()))
            default: return nil
            }
        } catch {
            return error.wouldBlock ? nil : refusal(of: request, error) ?? error.response()
        }
    }

    /// Returns an error page with a link to an existing collection, if the client prefers HTML.
    private func refusal(of request: HTTPRequest, _ error: WebDAVError) -> HTTPResponse? {
        guard let page, request.method == .get || request.method == .head,
            error.status == .notFound || error.status == .forbidden, request.wantsHTML,
            let context = try? RequestContext(request, now: share.now())
        else { return nil }
        return page.response(
            refusing: CollectionVisit(context, target: context.path, share: share), with: error.status)
    }

    private func changeAtOnce(_ context: RequestContext) throws(WebDAVError) -> HTTPResponse? {
        if UploadResource.isAbove(context.path) { return nil }
        switch context.request.method {
        case .delete: return try share.changeAtOnce(DeleteMethod(share: share), context: context)
        case .mkcol: return try share.changeAtOnce(MkColMethod(share: share), context: context)
        case .move:
            let transfer = try Transfer(context.request, context: context, share: share)
            return try share.changeAtOnce(MoveMethod(share: share, transfer: transfer), context: context)
        case .put:
            // Writing a range first copies the file, and `Prefer` may read the new content; both can block.
            if context.request.contains(.contentRange) || context.request.contains(.prefer) { return nil }
            let method = try PutMethod(share: share, request: context.request)
            return try share.changeAtOnce(method, context: context)
        default: return nil
        }
    }

    private func dispatch(_ request: HTTPRequest) async throws(WebDAVError) -> HTTPResponse {
        if case .other = request.method { throw WebDAVError(.notImplemented) }
        if request.target.form == .asterisk { return OptionsMethod.response(allowing: AllowedMethods.any) }
        if share.configuration.isReadOnly, !Self.isReading(request) { throw WebDAVError(.forbidden) }
        let context = try RequestContext(request, now: share.now())
        if UploadResource.isAbove(context.path) {
            return try await UploadMethods(share: share).respond(context)
        }

        switch request.method {
        case .get, .head: return try await GetMethod(share: share, page: page).respond(context)
        case .options: return try await OptionsMethod(share: share).respond(context)
        case .propfind: return try await PropFindMethod(share: share).respond(context)
        case .put where request.contains(.contentRange), .patch:
            let method = try PatchMethod(share: share, request: request)
            return try await share.change(method, context: context)
        case .report: return try await ReportMethod(share: share).respond(context)
        case .search: return try await SearchMethod(share: share).respond(context)
        case .put:
            if DraftFields.stand(in: request),
                let response = try await DraftUploads(share: share).put(context)
            {
                return response
            }
            let method = try PutMethod(share: share, request: request)
            return try await share.change(method, context: context)
        case .post where request.contains(.tusResumable):
            return try await TusUploads(share: share).create(context)
        case .post where DraftFields.stand(in: request) && PostMethod.addsMember(request):
            if let response = try await DraftUploads(share: share).addMember(context) { return response }
            return try await PostMethod.respond(context, share: share, page: page)
        case .post: return try await PostMethod.respond(context, share: share, page: page)
        case .delete: return try await share.change(DeleteMethod(share: share), context: context)
        case .mkcol where request.body.isPresent:
            return try await share.change(ExtendedMkColMethod(share: share), context: context)
        case .mkcol: return try await share.change(MkColMethod(share: share), context: context)
        case .proppatch: return try await share.change(PropPatchMethod(share: share), context: context)
        case .copy:
            let transfer = try Transfer(request, context: context, share: share)
            return try await share.change(CopyMethod(share: share, transfer: transfer), context: context)
        case .move:
            let transfer = try Transfer(request, context: context, share: share)
            return try await share.change(MoveMethod(share: share, transfer: transfer), context: context)
        case .lock:
            return try await share.change(LockMethod(share: share, request: request), context: context)
        case .unlock:
            return try await share.change(UnlockMethod(share: share, request: request), context: context)
        case .trace, .connect: throw .methodNotAllowed(AllowedMethods.ofResources)
        case .other: throw WebDAVError(.notImplemented)
        }
    }

    /// An allow-list, so that a read-only share rejects methods that are added later.
    private static func isReading(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .get, .head, .options, .propfind, .report, .search: true
        case .post where request.contains(.tusResumable) || DraftFields.stand(in: request): false
        case .post: request.query["action"].flatMap { FormAction(rawValue: $0) }?.isReading == true
        default: false
        }
    }
}

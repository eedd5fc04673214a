public import DavitHTTP
public import DavitServer
internal import DavitStore

/// The HTTP handler for WebDAV: dispatches each request to its method and converts errors to responses.
public struct WebDAVHandler: Handler {
    private let administration: (any ShareAdministration)?
    /// The methods that read, created once: creating them for each request would retain objects that all event
    /// loops use.
    private let getMethod: GetMethod
    private let propFindMethod: PropFindMethod

    private var share: Share { getMethod.share }
    private var page: (any CollectionPage)? { getMethod.page }

    /// - Parameter page: generates the browser page of a collection and the error pages; nil to respond to GET
    ///   of a collection with header fields only.
    public init(share: Share, page: (any CollectionPage)?) {
        self.init(share: share, page: page, administration: nil)
    }

    /// - Parameter administration: responds to requests about accounts and rights; nil if there is no database of
    ///   accounts.
    package init(
        share: Share, page: (any CollectionPage)?, administration: (any ShareAdministration)?
    ) {
        self.administration = administration
        getMethod = GetMethod(share: share, page: page)
        propFindMethod = PropFindMethod(share: share)
    }

    /// The value of ``OptionsMethod/complianceFields``, for OPTIONS requests to paths above a mount.
    public var announcedFields: HTTPFields { OptionsMethod.complianceFields }

    public func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        if share.hasAccessPolicy { return try respondWithRights(to: request) }
        return try answer(request, share)
    }

    private func respondWithRights(to request: HTTPRequest) throws(HTTPError) -> Reply {
        guard let sessions = share.work.sessions else { return try respondWithCurrentRights(to: request) }
        return .pending { () async throws(HTTPError) in
            await sessions.refreshRights()
            switch try respondWithCurrentRights(to: request) {
            case .ready(let response): return response
            case .pending(let work): return try await work()
            }
        }
    }

    @inline(never)
    private func respondWithCurrentRights(to request: HTTPRequest) throws(HTTPError) -> Reply {
        let view = share.view(for: request)
        if let reply = administration?.reply(to: request, by: view) { return reply }
        return try answer(request, view)
    }

    /// - Parameter view: the part of the share that the client may see.
    @inline(__always)
    private func answer(_ request: HTTPRequest, _ view: Share) throws(HTTPError) -> Reply {
        let response: HTTPResponse
        do throws(WebDAVError) {
            switch try dispatch(request, view) {
            case .ready(let ready): response = ready
            case .pending(let work): return pendingReply(to: request, view, work)
            }
        } catch {
            if let errorPage = page?.response(to: request, refusedWith: error, by: view) {
                response = errorPage
            } else {
                response = try error.responseOrRethrow()
            }
        }
        guard request.contains(.prefer), Representation.mayBeAdded(to: response, for: request) else {
            return .ready(response)
        }
        return .pending { () async throws(HTTPError) in
            await Representation(share: view).added(to: response, for: request)
        }
    }

    /// Returns a pending reply that runs `work` and adds the current content of the resource if the client prefers it.
    /// Without a Prefer field, uses `work` directly, which avoids a closure.
    private func pendingReply(
        to request: HTTPRequest, _ view: Share, _ work: @escaping PendingResponse
    ) -> Reply {
        guard request.contains(.prefer) else { return .pending(work) }
        return .pending { () async throws(HTTPError) in
            await Representation(share: view).added(to: try await work(), for: request)
        }
    }

    /// Starts the method of the request.
    private func dispatch(_ request: HTTPRequest, _ view: Share) throws(WebDAVError) -> Reply {
        if case .other = request.method { throw WebDAVError(.notImplemented) }
        if request.targetForm == .asterisk {
            return .ready(OptionsMethod.response(allowing: AllowedMethods.any))
        }
        if view.configuration.isReadOnly, !Self.isReading(request) { throw WebDAVError(.forbidden) }
        let context = try RequestContext(request, now: view.now())
        if UploadResource.collection.contains(context.path) {
            return .pending { () async throws(HTTPError) in
                try await WebDAVError.converted { () async throws(WebDAVError) in
                    try await UploadMethods(share: view).respond(context)
                }
            }
        }

        switch request.method {
        case .get, .head:
            if view === share { return try getMethod.respond(context) }
            return try GetMethod(share: view, page: page).respond(context)
        case .propfind:
            if view === share { return try propFindMethod.respond(context) }
            return try PropFindMethod(share: view).respond(context)
        case .options, .report, .search, .post:
            return .pending { [page] () async throws(HTTPError) in
                try await WebDAVError.converted { () async throws(WebDAVError) in
                    try await Self.respondLater(context, view, page)
                }
            }
        case .put where request.contains(.contentRange), .patch:
            return try ChangeCommitter(try PatchMethod(share: view, request: request), context).reply()
        case .put where DraftFields.arePresent(in: request):
            return .pending { () async throws(HTTPError) in
                try await WebDAVError.converted { () async throws(WebDAVError) in
                    try await Self.putDraft(context, view)
                }
            }
        case .put: return try ChangeCommitter(try PutMethod(share: view, request: request), context).reply()
        case .delete: return try ChangeCommitter(DeleteMethod(share: view), context).reply()
        case .mkcol where request.body.isPresent:
            return try ChangeCommitter(ExtendedMkColMethod(share: view), context).reply()
        case .mkcol: return try ChangeCommitter(MkColMethod(share: view), context).reply()
        case .proppatch: return try ChangeCommitter(PropPatchMethod(share: view), context).reply()
        case .copy:
            let transfer = try Transfer(request, context: context, share: view)
            return try ChangeCommitter(CopyMethod(share: view, transfer: transfer), context).reply()
        case .move:
            let transfer = try Transfer(request, context: context, share: view)
            return try ChangeCommitter(MoveMethod(share: view, transfer: transfer), context).reply()
        case .lock: return try ChangeCommitter(LockMethod(share: view, request: request), context).reply()
        case .unlock:
            return try ChangeCommitter(UnlockMethod(share: view, request: request), context).reply()
        case .trace, .connect: throw .methodNotAllowed(AllowedMethods.ofResources)
        case .other: throw WebDAVError(.notImplemented)
        }
    }

    /// Responds to OPTIONS, REPORT, SEARCH and POST, which have no synchronous path.
    private static func respondLater(
        _ context: RequestContext, _ view: Share, _ page: (any CollectionPage)?
    ) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        switch request.method {
        case .options: return try await OptionsMethod(share: view).respond(context)
        case .report: return try await ReportMethod(share: view).respond(context)
        case .search: return try await SearchMethod(share: view).respond(context)
        case .post where request.contains(.tusResumable):
            return try await TusUploads(share: view).create(context)
        case .post:
            if DraftFields.arePresent(in: request), PostMethod.addsMember(request),
                let response = try await DraftUploads(share: view).addMember(context)
            {
                return response
            }
            return try await PostMethod.respond(context, share: view, page: page)
        default: throw WebDAVError(.notImplemented)
        }
    }

    private static func putDraft(
        _ context: RequestContext, _ view: Share
    ) async throws(WebDAVError) -> HTTPResponse {
        if let response = try await DraftUploads(share: view).put(context) { return response }
        let method = try PutMethod(share: view, request: context.request)
        return try await ChangeCommitter(method, context).run()
    }

    /// Whether the request changes nothing. An allow-list, so that a read-only share rejects methods that are
    /// added later.
    private static func isReading(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .get, .head, .options, .propfind, .report, .search: true
        case .post where request.contains(.tusResumable) || DraftFields.arePresent(in: request): false
        case .post: request.query["action"].flatMap { FormAction(rawValue: $0) }?.isReading == true
        default: false
        }
    }
}

internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The methods of an upload resource: those of tus if the request contains `Tus-Resumable`, otherwise those
/// of the draft. An upload created with one protocol can be completed with the other.
struct UploadMethods: Sendable {
    let share: Share

    func respond(_ context: RequestContext) async throws(WebDAVError) -> HTTPResponse {
        let request = context.request
        let isTus = request.contains(.tusResumable)
        if request.method == .options { return options() }
        do throws(WebDAVError) {
            if isTus { try TusUploads.checkVersion(request) }
            let engine = UploadEngine(share: share)
            let record = try await engine.find(UploadResource.id(at: context.path), context)
            do throws(WebDAVError) {
                return try await respond(context, record, engine)
            } catch {
                // A crash had prevented the update of the row; `respond` has now marked the upload as
                // complete.
                guard error.status == .notFound, !record.progress.isComplete,
                    let settled = try await engine.record(record.id), settled.progress.isComplete
                else { throw error }
                return try await respond(context, settled, engine)
            }
        } catch {
            throw isTus ? TusUploads.answer(error) : error
        }
    }

    private func respond(
        _ context: RequestContext, _ record: UploadRecord, _ engine: UploadEngine
    ) async throws(WebDAVError) -> HTTPResponse {
        let isTus = context.request.contains(.tusResumable)
        let (draft, tus) = (DraftUploads(share: share), TusUploads(share: share))
        switch Self.method(of: context.request) {
        case .head: return try await isTus ? tus.head(record, context) : draft.head(record, context)
        case .patch:
            try await engine.checkRights(record, context)
            return try await isTus ? tus.patch(record, context) : draft.patch(record, context)
        case .delete:
            try await engine.cancel(record)
            var response = HTTPResponse(status: .noContent)
            if isTus { TusUploads.appendVersion(to: &response.fields) }
            return response
        default: throw .methodNotAllowed(AllowedMethods.upload)
        }
    }

    /// Returns the effective method of a request for an upload; tus clients limited to POST can override it
    /// in a field.
    static func method(of request: HTTPRequest) -> HTTPMethod {
        request.contains(.tusResumable) ? TusUploads.method(of: request) : request.method
    }

    private func options() -> HTTPResponse {
        var response = HTTPResponse(status: .noContent)
        response.fields.append(.allow, AllowedMethods.upload)
        response.fields.append(named: "Accept-Patch", UploadResource.acceptPatch)
        response.fields.append(named: UploadResource.limitField, DraftUploads.limits(of: share))
        TusUploads.appendOptions(of: share, to: &response.fields)
        return response
    }
}

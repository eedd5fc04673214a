internal import DavitAccess
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV
internal import Synchronization

/// POST to the add-member URI of a collection (RFC 5995): the body becomes a new member. The server chooses
/// the name, based on the client's suggestion in `Slug` (RFC 5023 §9.7), if any.
///
/// The add-member URI is that of the collection with a query. A query is never part of a resource name, so
/// the URI cannot collide with that of a member.
struct PostMethod: UploadingMethod {
    /// The query of the add-member URI.
    static let query = RequestContext.addMemberQuery

    /// The received body, shared by the attempts with different names, so that it is received only once.
    private final class Received: Sendable {
        let content = Mutex<PreparedContent?>(nil)
    }

    let share: Share
    /// The path of the new member, with the collection as spelled by the client.
    private let path: ResourcePath
    private let received: Received

    var destination: (path: ResourcePath, last: SymlinkMode)? { (path, .notFollowed) }
    let put: PutMethod

    /// Whether a request addresses the add-member URI.
    static func addsMember(_ request: HTTPRequest) -> Bool {
        guard let query = request.target.rawQuery else { return false }
        return query.elementsEqual(self.query.description.utf8)
    }

    /// Performs a form action, or adds a member.
    /// - Throws: 405 if the request is for neither.
    static func respond(
        _ context: RequestContext, share: Share, page: (any CollectionPage)?
    ) async throws(WebDAVError) -> HTTPResponse {
        if let action = try ActionRequest.action(of: context, share: share) {
            return try await ActionMethod(share: share, page: page).respond(action, context)
        }
        guard addsMember(context.request) else { throw .methodNotAllowed(AllowedMethods.ofResources) }
        return try await add(MemberNames(for: context.request), context, share: share)
    }

    /// Adds the request's content as a member of its target, under the first candidate name that is free.
    static func add(
        _ names: MemberNames, _ context: RequestContext, share: Share
    ) async throws(WebDAVError) -> HTTPResponse {
        let received = Received()
        let put = try PutMethod(share: share, request: context.request)
        for name in names.names {
            // Skip a path that belongs to another mount: the member would be unreachable.
            guard let path = context.path.appending(name), !share.urls.isHidden(path) else { continue }
            do throws(WebDAVError) {
                let method = PostMethod(share: share, path: path, received: received, put: put)
                return try await ChangeCommitter(method, context).run()
            } catch {
                guard error.lostRace else { throw error }
            }
        }
        throw .busy
    }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        guard change.target.info?.isCollection == true else { return [] }
        return change.destination.map { [.creating($0.path)] } ?? []
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        guard let info = change.target.info, let member = change.destination else {
            throw WebDAVError(.notFound)
        }
        guard info.isCollection else {
            throw share.methodNotAllowed(AllowedMethods.content, at: change.target, change.context)
        }
        switch member.state {
        case .unmapped: return
        case .unservable where share.rules?.refuses(in: member.path) == true: throw WebDAVError(.forbidden)
        case .mapped, .unservable: throw WebDAVError(store: .alreadyExists)
        case .missingAncestor: throw WebDAVError(.conflict)
        }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        change.destination.map { [.write($0.path), .member($0.path)] } ?? []
    }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        (change.destination.map { [PathLockRequest(path: $0.path, mode: .exclusive)] } ?? [])
    }

    func canReuse(_ prepared: PreparedContent, from first: ChangeTarget, in change: ChangeTarget) -> Bool {
        guard let then = first.destination, let now = change.destination else { return false }
        return put.canReuse(prepared, at: then.path, in: now.path)
    }

    func prepare(_ change: ChangeTarget) async throws(WebDAVError) -> PreparedContent {
        if let content = received.content.withLock({ $0 }) { return content }
        let content = try await put.prepare(try member(of: change))
        received.content.withLock { $0 = content }
        return content
    }

    func commit(
        _ change: ChangeTarget, _ prepared: PreparedContent, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        try put.commit(try member(of: change), prepared, guard: check)
    }

    func finish(_ outcome: PutMethod.Outcome, on change: ChangeTarget) async throws(WebDAVError)
        -> HTTPResponse
    {
        var response = try await put.finish(outcome, on: change)
        response.fields.append(
            .location, change.context.href(of: change.destination?.path ?? change.target.path))
        return response
    }

    /// Returns the new member as the target of the equivalent PUT.
    private func member(of change: ChangeTarget) throws(WebDAVError) -> ChangeTarget {
        guard let member = change.destination else { throw WebDAVError(.conflict) }
        return ChangeTarget(context: change.context, target: member)
    }
}

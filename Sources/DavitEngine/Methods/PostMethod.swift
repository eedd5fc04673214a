internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV
internal import Synchronization

/// POST to the URI that adds members (RFC 5995): the body becomes a new member of the collection, whose name the server
/// chooses, as the client would like it if it says how (`Slug`, RFC 5023 §9.7).
///
/// The URI is that of the collection with a query, because a query is no part of any name: whatever members are called,
/// none of them can be meant by it.
struct PostMethod: ChangeMethod {
    /// The query of that URI.
    static let query: StaticString = "add-member"

    /// The body, received once, however many names are tried.
    private final class Received: Sendable {
        let content = Mutex<PreparedContent?>(nil)
    }

    let share: Share
    /// As the client spells the collection.
    private let path: ResourcePath
    private let received: Received

    var destination: (path: ResourcePath, last: LastSegment)? { (path, .itself) }
    private let put: PutMethod

    /// True if a request is for the URI that adds members.
    static func addsMember(_ request: HTTPRequest) -> Bool {
        guard let query = request.target.rawQuery else { return false }
        return query.elementsEqual(self.query.description.utf8)
    }

    /// Answers POST: forms, and new members.
    static func respond(
        _ context: RequestContext, share: Share, page: (any CollectionPage)?
    ) async throws(WebDAVError) -> HTTPResponse {
        if let action = try ActionRequest.action(of: context, share: share) {
            return try await ActionMethod(share: share, page: page).respond(action, context)
        }
        guard addsMember(context.request) else { throw .methodNotAllowed(AllowedMethods.ofResources) }
        return try await add(MemberNames(for: context.request), context, share: share)
    }

    /// Adds the content of a request as a member of its target, under the first of these names that is free.
    static func add(
        _ names: MemberNames, _ context: RequestContext, share: Share
    ) async throws(WebDAVError) -> HTTPResponse {
        let received = Received()
        let put = try PutMethod(share: share, request: context.request)
        for name in names.names {
            // Where something else is mounted, nobody could reach the member.
            guard let path = context.path.appending(name), !share.hides(path) else { continue }
            do throws(WebDAVError) {
                let method = PostMethod(share: share, path: path, received: received, put: put)
                return try await share.change(method, context: context)
            } catch {
                guard error.isOvertaken else { throw error }
            }
        }
        throw .busy
    }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        guard let info = scene.target.info, let member = scene.destination else {
            throw WebDAVError(.notFound)
        }
        guard info.isCollection else { throw .methodNotAllowed(AllowedMethods.content) }
        switch member.state {
        case .unmapped: return [.write(member.path), .member(member.path)]
        case .unservable where share.rules?.refuses(in: member.path) == true: throw WebDAVError(.forbidden)
        case .mapped, .unservable: throw WebDAVError(store: .alreadyExists)
        case .missingAncestor: throw WebDAVError(.conflict)
        }
    }

    func claims(on scene: Scene) -> [Claim] {
        (scene.destination.map { [Claim(path: $0.path, mode: .exclusive)] } ?? [])
    }

    func serves(_ prepared: PreparedContent, from first: Scene, in scene: Scene) -> Bool {
        guard let then = first.destination, let now = scene.destination else { return false }
        return put.serves(prepared, at: then.path, in: now.path)
    }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { .upload }
    func content(of prepared: PreparedContent) -> PreparedContent? { prepared }

    func prepare(_ scene: Scene) async throws(WebDAVError) -> PreparedContent {
        if let content = received.content.withLock({ $0 }) { return content }
        let content = try await put.prepare(try member(of: scene))
        received.content.withLock { $0 = content }
        return content
    }

    func commit(
        _ scene: Scene, _ prepared: PreparedContent, guard check: WriteGuard
    ) throws(WebDAVError) -> PutMethod.Outcome {
        try put.commit(try member(of: scene), prepared, guard: check)
    }

    func finish(_ outcome: PutMethod.Outcome, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        var response = try await put.finish(outcome, on: scene)
        response.fields.append(
            .location, scene.context.href(of: scene.destination?.path ?? scene.target.path))
        return response
    }

    /// The scene as PUT to the new member sees it.
    private func member(of scene: Scene) throws(WebDAVError) -> Scene {
        guard let member = scene.destination else { throw WebDAVError(.conflict) }
        return Scene(context: scene.context, target: member, subject: member)
    }
}

extension RequestContext {
    /// Where a resource of the share is for this client.
    /// - Parameter path: canonical.
    func href(of path: ResourcePath) -> [UInt8] {
        var href = mountHref
        PercentCoding.append(path, to: &href)
        return href
    }

    /// The same for a collection: with a slash at its end.
    func collectionHref(of path: ResourcePath) -> [UInt8] {
        var href = href(of: path)
        if href.last != UInt8(ascii: "/") { href.append(UInt8(ascii: "/")) }
        return href
    }

    /// The URI that adds members to a collection (RFC 5995 §3.1).
    /// - Parameter path: canonical.
    func addMemberHref(of path: ResourcePath) -> [UInt8] {
        var href = collectionHref(of: path)
        href.append(UInt8(ascii: "?"))
        href.append(contentsOf: PostMethod.query.description.utf8)
        return href
    }
}

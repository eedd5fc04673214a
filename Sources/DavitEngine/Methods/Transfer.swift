internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What COPY and MOVE share: where to, and whether something there may be replaced (RFC 4918 §10.3, §10.6).
struct Transfer: Sendable {
    let destination: ResourcePath
    let overwrites: Bool
    let depth: Depth

    init(_ request: HTTPRequest, context: RequestContext, share: Share) throws(WebDAVError) {
        guard request.count(of: .destination) == 1, let field = request.bytes(of: .destination) else {
            throw WebDAVError(.badRequest)
        }
        guard let parsed = try? DestinationHeader.parse(field.span) else { throw WebDAVError(.badRequest) }
        // §9.8.5: the destination is on another server, or in another URL namespace.
        guard share.isOurs(parsed, in: context) else { throw WebDAVError(.badGateway) }
        // A query is no part of a resource's name here: what it asks for cannot be made.
        if parsed.rawQuery != nil { throw WebDAVError(.badRequest) }
        let path: ResourcePath?
        do throws(HTTPError) { path = try share.path(at: parsed.rawPath, in: context) } catch {
            throw WebDAVError(error.status)
        }
        // §9.8.5: what is outside the share is another URL namespace, which another handler serves.
        guard let path else { throw WebDAVError(.badGateway) }
        destination = path
        // §10.6: absent means T.
        overwrites = try request.value(of: .overwrite) { Overwrite.parse($0) } != .forbidden
        // §9.8.3, §9.9.2: absent means infinity.
        depth = try Depth.asked(in: request, fallback: .infinity)
    }

    /// Of a whole resource.
    init(to destination: ResourcePath, overwrites: Bool) {
        self.destination = destination
        self.overwrites = overwrites
        depth = .infinity
    }

    /// Refuses what neither method can do.
    func check(_ scene: Scene) throws(WebDAVError) {
        guard let source = scene.subject.info, let destination = scene.destination else {
            throw WebDAVError(.notFound)
        }
        if !source.isCollection && scene.context.endsInSlash { throw WebDAVError(.notFound) }
        if source.isCollection && depth == .one { throw WebDAVError(.badRequest) }
        switch destination.state {
        case .missingAncestor: throw WebDAVError(.conflict)
        case .unservable: throw WebDAVError(.forbidden)
        case .unmapped: break
        case .mapped:
            if destination.path == scene.target.path { throw WebDAVError(.forbidden) }
            if !overwrites { throw WebDAVError(.preconditionFailed) }
        }
        // Onto itself, into its own descendant, or over its own ancestor (§9.8.5, §9.9.4). So also for what a
        // link leads to: in the place of that, the link would lead nowhere and the content be lost.
        for path in [scene.target.path, scene.subject.path]
        where destination.path.contains(path) || path.contains(destination.path) {
            throw WebDAVError(.forbidden)
        }
    }

    /// What changes at the destination. §7.4: what is copied or moved into a collection is a new member of it, also
    /// where it takes the place of another, which is removed first (§9.8.4, §9.9.3).
    static func effects(at destination: Lookup) -> [Effect] {
        let path = destination.path
        return [destination.info == nil ? .write(path) : .tree(path), .member(path)]
    }

    static func response(_ scene: Scene) -> HTTPResponse {
        HTTPResponse(scene.destination?.info == nil ? .created : .noContent)
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The common part of COPY and MOVE: the destination, whether an existing resource there may be replaced, and the
/// depth (RFC 4918 §10.2, §10.3, §10.6).
struct Transfer: Sendable {
    let destination: ResourcePath
    let overwrites: Bool
    let depth: Depth

    init(_ request: HTTPRequest, context: RequestContext, share: Share) throws(WebDAVError) {
        guard request.count(of: .destination) == 1, let field = request.bytes(of: .destination) else {
            throw WebDAVError(.badRequest)
        }
        guard let parsed = try? DestinationHeader.parse(field.span) else { throw WebDAVError(.badRequest) }
        // §9.8.5: the destination is on another server.
        guard share.urls.isOurs(parsed, in: context) else { throw WebDAVError(.badGateway) }
        // Resources of a share have no query, so none can be created at such a URI.
        if parsed.rawQuery != nil { throw WebDAVError(.badRequest) }
        let path: ResourcePath?
        do throws(HTTPError) { path = try share.urls.path(at: parsed.rawPath, in: context) } catch {
            throw WebDAVError(error.status)
        }
        // §9.8.5: the path is outside the share or belongs to another mount inside it.
        guard let path else { throw WebDAVError(.badGateway) }
        destination = path
        // §10.6: the default is T.
        overwrites = try request.value(of: .overwrite) { Overwrite.parse($0) } != .forbidden
        // §9.8.3, §9.9.2: the default is infinity.
        depth = try Depth.requested(in: request, fallback: .infinity)
    }

    /// Creates a transfer of a resource with everything below it.
    init(to destination: ResourcePath, overwrites: Bool) {
        self.destination = destination
        self.overwrites = overwrites
        depth = .infinity
    }

    /// Performs the checks common to both methods.
    /// - Returns: the destination.
    func check(_ change: ChangeTarget) throws(WebDAVError) -> Lookup {
        guard let source = change.resolvedInfo, let destination = change.destination else {
            throw WebDAVError(.notFound)
        }
        if !source.isCollection && change.context.endsInSlash { throw WebDAVError(.notFound) }
        if source.isCollection && depth == .one { throw WebDAVError(.badRequest) }
        try destination.checkCreatable()
        if destination.info != nil {
            if destination.path == change.target.path { throw WebDAVError(.forbidden) }
            if !overwrites { throw WebDAVError(.preconditionFailed) }
        }
        // A resource cannot replace itself, or be transferred to a path above or below itself (§9.8.5, §9.9.4). This
        // also applies to the resource to which a symbolic link leads: replacing it would lose its content.
        if destination.path.overlaps(change.target.path) || destination.path.overlaps(change.resolvedPath) {
            throw WebDAVError(.forbidden)
        }
        return destination
    }

    /// Returns the effects at the destination. The transferred resource is a new member of its collection (§7.4), even if
    /// it replaces another one, because that one is removed first (§9.8.4, §9.9.3).
    static func effects(at destination: Lookup) -> [WriteEffect] {
        let path = destination.path
        return [destination.info == nil ? .write(path) : .tree(path), .member(path)]
    }

    static func response(_ change: ChangeTarget) -> HTTPResponse {
        HTTPResponse(status: change.destination?.info == nil ? .created : .noContent)
    }
}

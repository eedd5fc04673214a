internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

extension WriteGuard {
    /// Looks up the target of a read-only method, and checks the preconditions and `If`, if present.
    /// - Throws: 412 if a precondition or `If` fails; an error if the lookup fails.
    static func readTarget(
        _ context: RequestContext, of share: Share, _ wait: Wait
    ) throws(WebDAVError) -> Lookup {
        let lookup: Lookup
        do throws(StoreError) { lookup = try share.lookup.resource(at: context.path, wait: wait) } catch {
            throw WebDAVError(reading: error)
        }
        let isConditional = Preconditions.arePresent(in: context.request)
        guard isConditional || context.ifHeader != nil else { return lookup }
        let check = WriteGuard(share: share, context: context, wait: wait)
        // RFC 9110 §13.2.1: evaluate preconditions only if the response would be successful without them.
        if isConditional, lookup.info != nil { try check.checkPreconditions(target: lookup.info) }
        try check.checkIf(target: lookup.info, path: lookup.path)
        return lookup
    }
}

extension Lookup {
    /// Returns the resource at the target of the request.
    /// - Throws: 404 if it does not exist, or if the URL ends in a slash and the resource is not a
    ///   collection.
    func mapped(for context: RequestContext) throws(WebDAVError) -> ResourceInfo {
        guard let info, info.isCollection || !context.endsInSlash else { throw WebDAVError(.notFound) }
        return info
    }

    /// Checks that a resource can be created here, or replaced if there is one.
    /// - Throws: 409 if the parent collection does not exist, 403 if the name is taken by something that is not served.
    func checkCreatable() throws(WebDAVError) {
        switch state {
        case .mapped, .unmapped: return
        case .missingAncestor: throw WebDAVError(.conflict)
        case .unservable: throw WebDAVError(.forbidden)
        }
    }
}

extension Depth {
    /// Returns the value of the Depth header field (RFC 4918 §10.2).
    /// - Parameter fallback: the default value for requests without the field.
    /// - Throws: 400 for values other than 0, 1 and infinity.
    static func requested(in request: HTTPRequest, fallback: Depth) throws(WebDAVError) -> Depth {
        try request.value(of: .depth) { Depth.parse($0) } ?? fallback
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

extension Share {
    /// Looks up the target of a method that only looks, and checks preconditions and `If`, if there are any.
    /// - Throws: 412 where they do not hold.
    func find(_ context: RequestContext, _ wait: Wait) throws(WebDAVError) -> Lookup {
        let lookup: Lookup
        do throws(StoreError) { lookup = try look(at: context.path, wait: wait) } catch {
            throw WebDAVError(reading: error)
        }
        let isConditional = Preconditions.stand(in: context.request)
        guard isConditional || context.ifHeader != nil else { return lookup }
        let check = WriteGuard(share: self, context: context, wait: wait)
        // RFC 9110 §13.2.1: only where the answer would be a success without them.
        if isConditional, lookup.info != nil { try check.checkPreconditions(target: lookup.info) }
        try check.checkIf(target: lookup.info, path: lookup.path)
        return lookup
    }
}

extension Lookup {
    /// What stands at the target of the request.
    /// - Throws: 404 if nothing does, or content under a name that ends in a slash.
    func mapped(for context: RequestContext) throws(WebDAVError) -> ResourceInfo {
        guard let info, info.isCollection || !context.endsInSlash else { throw WebDAVError(.notFound) }
        return info
    }
}

extension Depth {
    /// What the Depth field says (RFC 4918 §10.2).
    /// - Parameter fallback: for requests without one.
    /// - Throws: 400 for anything else than 0, 1 and infinity.
    static func asked(in request: HTTPRequest, fallback: Depth) throws(WebDAVError) -> Depth {
        try request.value(of: .depth) { Depth.parse($0) } ?? fallback
    }
}

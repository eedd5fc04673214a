internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What the dispatcher has read from a request before its method runs: plain values, each parsed once.
///
/// An object and not a value, because every step of a request hands it on.
final class RequestContext: Sendable {
    let request: HTTPRequest
    /// The target as asked: decoded, not yet canonical.
    let path: ResourcePath
    let endsInSlash: Bool
    /// The target is the prefix of the mount, without a slash behind it.
    let isMountItself: Bool
    /// The prefix below which the share is mounted; the root where it is not.
    let mount: ResourcePath
    /// The same as hrefs show it, without a slash at its end; empty where the share is not mounted.
    let mountHref: [UInt8]
    /// The target below that, as sent, safe to stand in an href.
    let localHref: [UInt8]
    let principal: String?
    let ifHeader: IfHeader?
    /// Every state token that stands anywhere in `If` (RFC 4918 §10.4).
    let submittedTokens: Set<String>
    /// When the head arrived; in a section, when that was entered: locks end while a body is on its way.
    let now: Timestamp

    init(_ request: HTTPRequest, now: Timestamp) throws(WebDAVError) {
        self.request = request
        self.now = now
        if request.contains(.contentEncoding), request.body.isPresent,
            (try? request.contentCoding()) != .identity
        {
            throw .codedContent
        }
        let target = request.target
        let mountPath = request.mountPath
        do throws(HTTPError) {
            (path, endsInSlash) = try target.resourcePath()
            mount = mountPath.isEmpty ? .root : try ResourcePath.parse(rawPath: mountPath).path
        } catch {
            throw WebDAVError(error.status)
        }
        isMountItself = target.rawPath.isEmpty && !mountPath.isEmpty
        mountHref = mountPath.isEmpty ? [] : Href.path(mountPath)
        localHref = Href.path(target.rawPath)
        principal = request.principal
        ifHeader = try Self.ifHeader(of: request)
        submittedTokens = ifHeader?.submittedTokens ?? []
    }

    /// What is made of another context: all of them are the requests of one client, in one mount.
    /// - Parameters:
    ///   - path: canonical; nil for the same target.
    ///   - conditions: what the request says in `If`, and the tokens that it submits.
    private init(
        _ other: RequestContext, _ request: HTTPRequest, at path: ResourcePath?, endsInSlash: Bool,
        conditions: (header: IfHeader?, tokens: Set<String>), now: Timestamp
    ) {
        self.request = request
        self.path = path ?? other.path
        self.endsInSlash = endsInSlash
        isMountItself = path == nil && other.isMountItself
        mount = other.mount
        mountHref = other.mountHref
        if let path {
            var href: [UInt8] = []
            PercentCoding.append(path, to: &href)
            localHref = href
        } else {
            localHref = other.localHref
        }
        principal = other.principal
        ifHeader = conditions.header
        submittedTokens = conditions.tokens
        self.now = now
    }

    private var conditions: (header: IfHeader?, tokens: Set<String>) { (ifHeader, submittedTokens) }

    /// The same request at another moment.
    func at(_ now: Timestamp) -> RequestContext {
        RequestContext(self, request, at: nil, endsInSlash: endsInSlash, conditions: conditions, now: now)
    }

    /// The same request as if it were about a member of its target, or about the target itself without its conditions: what
    /// a form does to each. The tokens in `If` are submitted for all of them; whether it holds is a question about the
    /// collection, and so are the conditions of HTTP.
    func member(
        _ path: ResourcePath, content: any RequestBody = EmptyRequestBody.shared
    ) -> RequestContext {
        RequestContext(
            self, request.bare(with: content), at: path, endsInSlash: false,
            conditions: (nil, submittedTokens), now: now)
    }

    /// As if the client had sent another request, for another path.
    /// - Parameters:
    ///   - request: without content.
    ///   - path: canonical.
    /// - Throws: 400 for an `If` that is none.
    func replacing(
        _ request: HTTPRequest, at path: ResourcePath, endsInSlash: Bool = false
    ) throws(WebDAVError) -> RequestContext {
        let header = try Self.ifHeader(of: request)
        return RequestContext(
            self, request, at: path, endsInSlash: endsInSlash,
            conditions: (header, header?.submittedTokens ?? []), now: now)
    }

    private static func ifHeader(of request: HTTPRequest) throws(WebDAVError) -> IfHeader? {
        guard let field = request.combinedBytes(of: .if) else { return nil }
        do throws(IfHeader.ParseError) { return try IfHeader(parsing: field.span) } catch {
            throw WebDAVError(.badRequest)
        }
    }

    /// The target as the client spells it, safe to stand in an href.
    var href: [UInt8] { mountHref.isEmpty ? localHref : mountHref + localHref }

    /// Where the root of a lock is for this client. Locks are kept as the share sees them: they outlive a server
    /// that mounts it elsewhere.
    func href(ofRootOf lock: Lock) -> [UInt8] {
        mountHref.isEmpty ? lock.rootHref : mountHref + lock.rootHref
    }

    /// The same for several locks, each root once.
    func hrefs(ofRootsOf locks: [Lock]) -> [[UInt8]] {
        var seen: Set<ResourcePath> = []
        return locks.filter { seen.insert($0.root).inserted }.map(href(ofRootOf:))
    }

    /// The resource that another path of this server names, as the share sees it.
    /// - Returns: nil for a path outside the share.
    /// - Throws: 400 for a path no resource can have.
    func path(at rawPath: [UInt8]) throws(HTTPError) -> ResourcePath? {
        let path = try ResourcePath.parse(rawPath: rawPath).path
        return mount.isRoot ? path : path.rebased(from: mount, to: .root)
    }

    /// The current tag and time of the target, for the preconditions of RFC 9110 §13.
    static func validators(of info: ResourceInfo?) -> (tag: EntityTag?, modified: Timestamp)? {
        info.map { ($0.isCollection ? nil : $0.entityTag, $0.modified) }
    }
}

extension HTTPRequest {
    /// Who is charged for long work: the account or, without one, the address.
    var client: String { principal.map { "account " + $0 } ?? peerAddress }
}

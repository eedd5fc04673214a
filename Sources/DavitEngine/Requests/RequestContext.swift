internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The parts of a request that the dispatcher parses once, before the method runs.
///
/// A class rather than a struct, so that passing it through the steps of a request does not copy it.
final class RequestContext: Sendable {
    let request: HTTPRequest
    /// The requested path: decoded, but not canonical.
    let path: ResourcePath
    let endsInSlash: Bool
    /// Whether the target is the prefix of the mount without a trailing slash.
    let isMountItself: Bool
    /// The prefix at which the share is mounted; the root if it is not mounted.
    let mount: ResourcePath
    /// ``mount`` as an href, without a trailing slash; empty if the share is not mounted.
    let mountHref: [UInt8]
    /// The part of the target below ``mount`` as the client sent it, escaped for use in an href.
    let localHref: [UInt8]
    let principal: String?
    let ifHeader: IfHeader?
    /// All state tokens that occur in `If` (RFC 4918 §10.4).
    let submittedTokens: Set<String>
    /// The time at which the head of the request arrived or, while path locks are held, at which they were
    /// acquired: WebDAV locks can expire while a body is being received.
    let now: Timestamp

    init(_ request: HTTPRequest, now: Timestamp) throws(WebDAVError) {
        self.request = request
        self.now = now
        if request.contains(.contentEncoding), request.body.isPresent,
            (try? request.contentCoding()) != .identity
        {
            throw .codedContent
        }
        let rawPath = request.rawPath
        let mountPath = request.mountPath
        do throws(HTTPError) {
            (path, endsInSlash) = try ResourcePath.parse(rawPath: rawPath)
            mount = mountPath.isEmpty ? .root : try ResourcePath.parse(rawPath: mountPath).path
        } catch {
            throw WebDAVError(error.status)
        }
        isMountItself = rawPath.isEmpty && !mountPath.isEmpty
        mountHref = mountPath.isEmpty ? [] : Href.path(mountPath)
        localHref = Href.path(rawPath)
        principal = request.principal
        ifHeader = try Self.ifHeader(of: request)
        submittedTokens = ifHeader?.submittedTokens ?? []
    }

    /// Derives a context from another one, for the same client and the same mount.
    /// - Parameters:
    ///   - path: the path of the new target; nil to keep the target.
    ///   - conditions: the parsed `If` field and the submitted tokens.
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

    /// Returns a copy of this context with another time.
    func at(_ now: Timestamp) -> RequestContext {
        RequestContext(self, request, at: nil, endsInSlash: endsInSlash, conditions: conditions, now: now)
    }

    /// Returns the request as if it were sent to a member of its target, or to the target itself without
    /// conditions. Forms use this for each member that they change. Tokens in `If` count as submitted for all
    /// members; the `If` condition and the HTTP preconditions apply only to the collection.
    func member(
        _ path: ResourcePath, content: any RequestBody = EmptyRequestBody.shared
    ) -> RequestContext {
        RequestContext(
            self, request.bare(with: content), at: path, endsInSlash: false,
            conditions: (nil, submittedTokens), now: now)
    }

    /// Returns a context for another request and path of the same client.
    /// - Parameters:
    ///   - request: a request without content.
    ///   - path: the path of the new target.
    /// - Throws: 400 if `If` is malformed.
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

    /// The target as the client spelled it, escaped for use in an href.
    var href: [UInt8] { mountHref.isEmpty ? localHref : mountHref + localHref }

    /// Returns the href of the root of a lock for this client. Locks are stored with paths relative to the
    /// share, because they outlive the server, and the next one may mount the share at another prefix.
    func href(ofRootOf lock: Lock) -> [UInt8] {
        mountHref.isEmpty ? lock.rootHref : mountHref + lock.rootHref
    }

    /// Returns the hrefs of the roots of several locks, each root once.
    func hrefs(ofRootsOf locks: [Lock]) -> [[UInt8]] {
        var seen: Set<ResourcePath> = []
        return locks.filter { seen.insert($0.root).inserted }.map(href(ofRootOf:))
    }

    /// Converts a path on this server to a path in the share.
    /// - Returns: nil if the path is outside the share.
    /// - Throws: 400 for an invalid path.
    func path(at rawPath: [UInt8]) throws(HTTPError) -> ResourcePath? {
        let path = try ResourcePath.parse(rawPath: rawPath).path
        return mount.isRoot ? path : path.rebased(from: mount, to: .root)
    }

    /// Returns the current entity tag and modification time of a resource, for the preconditions of RFC 9110
    /// §13.
    static func validators(of info: ResourceInfo?) -> (tag: EntityTag?, modified: Timestamp)? {
        info.map { ($0.isCollection ? nil : $0.entityTag, $0.modified) }
    }
}

extension HTTPRequest {
    /// The client that long work is charged to: the account if authenticated, otherwise the address.
    var client: String { principal.map { "account " + $0 } ?? peerAddress }
}

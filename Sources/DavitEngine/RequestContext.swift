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
        if let field = request.combinedBytes(of: .if) {
            do throws(IfHeader.ParseError) {
                ifHeader = try IfHeader(parsing: field.span)
            } catch {
                throw WebDAVError(.badRequest)
            }
        } else {
            ifHeader = nil
        }
        submittedTokens = ifHeader?.submittedTokens ?? []
    }

    /// The same request at another moment.
    init(_ other: RequestContext, now: Timestamp) {
        request = other.request
        path = other.path
        endsInSlash = other.endsInSlash
        isMountItself = other.isMountItself
        mount = other.mount
        mountHref = other.mountHref
        localHref = other.localHref
        principal = other.principal
        ifHeader = other.ifHeader
        submittedTokens = other.submittedTokens
        self.now = now
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

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
    /// Where the share is mounted; nil if it is not mounted.
    private let mountPoint: MountPoint?
    /// The part of the target below ``mount``, as the client sent it or, for another target, percent-encoded.
    private let rawPath: [UInt8]
    let principal: String?
    let ifHeader: IfHeader?
    /// ``submittedTokens``; nil if there are none.
    private let tokens: Set<String>?
    /// The time at which the head of the request arrived or, while path locks are held, at which they were
    /// acquired: WebDAV locks can expire while a body is being received.
    let now: Timestamp

    private struct MountPoint {
        let path: ResourcePath
        /// The path as an href, without a trailing slash.
        let href: [UInt8]

        init(rawPath: [UInt8]) throws(HTTPError) {
            path = try ResourcePath.parse(rawPath: rawPath).path
            href = Href.path(rawPath)
        }
    }

    init(_ request: HTTPRequest, now: Timestamp) throws(WebDAVError) {
        self.request = request
        self.now = now
        if request.contains(.contentEncoding), request.body.isPresent,
            (try? request.contentCoding()) != .identity
        {
            throw .codedContent
        }
        let rawPath = request.rawPath
        do throws(HTTPError) {
            (path, endsInSlash) = try ResourcePath.parse(rawPath: rawPath)
            mountPoint = try request.isMounted ? MountPoint(rawPath: request.mountPath) : nil
        } catch {
            throw WebDAVError(error.status)
        }
        isMountItself = rawPath.isEmpty && mountPoint != nil
        self.rawPath = rawPath
        principal = request.principal
        ifHeader = try Self.ifHeader(of: request)
        tokens = ifHeader?.submittedTokens
    }

    /// Derives a context from another one, for the same client and the same mount.
    /// - Parameters:
    ///   - path: the path of the new target; nil to keep the target.
    ///   - conditions: the parsed `If` field and the submitted tokens.
    private init(
        _ other: RequestContext, _ request: HTTPRequest, at path: ResourcePath?, endsInSlash: Bool,
        conditions: (header: IfHeader?, tokens: Set<String>?), now: Timestamp
    ) {
        self.request = request
        self.path = path ?? other.path
        self.endsInSlash = endsInSlash
        isMountItself = path == nil && other.isMountItself
        mountPoint = other.mountPoint
        if let path {
            var encoded: [UInt8] = []
            PercentCoding.append(path, to: &encoded)
            rawPath = encoded
        } else {
            rawPath = other.rawPath
        }
        principal = other.principal
        ifHeader = conditions.header
        tokens = conditions.tokens
        self.now = now
    }

    private var conditions: (header: IfHeader?, tokens: Set<String>?) { (ifHeader, tokens) }

    /// All state tokens that occur in `If` (RFC 4918 §10.4).
    var submittedTokens: Set<String> { tokens ?? [] }

    /// The prefix at which the share is mounted; the root if it is not mounted.
    var mount: ResourcePath { mountPoint?.path ?? .root }

    /// ``mount`` as an href, without a trailing slash; empty if the share is not mounted.
    var mountHref: [UInt8] { mountPoint?.href ?? [] }

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
            conditions: (nil, tokens), now: now)
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
            conditions: (header, header?.submittedTokens), now: now)
    }

    private static func ifHeader(of request: HTTPRequest) throws(WebDAVError) -> IfHeader? {
        guard let field = request.combinedBytes(of: .if) else { return nil }
        let header: IfHeader
        do throws(IfHeader.ParseError) { header = try IfHeader(parsing: field.span) } catch {
            throw WebDAVError(.badRequest)
        }
        // Each tag requires a lookup, which in a folder with very many names can take long.
        if header.lists.count > taggedResourceLimit,
            Set(header.lists.lazy.compactMap(\.resourceTag)).count > taggedResourceLimit
        {
            throw WebDAVError(.fieldsTooLarge)
        }
        return header
    }

    /// The maximum number of different Resource-Tags in `If`.
    private static let taggedResourceLimit = 64

    /// The part of the target below ``mount`` as the client spelled it, escaped for use in an href. Computed on each
    /// access.
    var localHref: [UInt8] { Href.path(rawPath) }

    /// The target as the client spelled it, escaped for use in an href.
    var href: [UInt8] { mountPoint.map { $0.href + localHref } ?? localHref }

    /// Returns the href of the root of a lock for this client. Locks are stored with paths relative to the
    /// share, because they outlive the server, and the next one may mount the share at another prefix.
    func href(ofRootOf lock: Lock) -> [UInt8] {
        mountPoint.map { $0.href + lock.rootHref } ?? lock.rootHref
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
        guard let mountPoint else { return path }
        return path.rebased(from: mountPoint.path, to: .root)
    }

    /// Returns the current entity tag and modification time of a resource, for the preconditions of RFC 9110
    /// §13.
    static func validators(of info: ResourceInfo?) -> (tag: EntityTag?, modified: Timestamp)? {
        info.map { ($0.isCollection ? nil : $0.entityTag, $0.modified) }
    }
}

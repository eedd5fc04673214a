public import DavitHTTP
internal import DavitServer
public import DavitStore

/// Makes what a browser gets for GET on a collection.
public protocol CollectionPage: Sendable {
    func response(to visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse
    /// The answer to a form that asks for some members of a collection as one file.
    /// - Parameter members: their names; not none.
    /// - Returns: nil if the page has no such thing.
    func archive(
        of members: [[UInt8]], _ visit: CollectionVisit
    ) async throws(HTTPError) -> HTTPResponse?
    /// A file that the page itself consists of.
    /// - Parameter path: below ``PageFilePath``, decoded.
    /// - Returns: nil if there is no such file.
    func file(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse?
    /// Answers a form that a person has sent to the collection.
    /// - Returns: nil for the answer of WebDAV, and for 303 back to the collection after what is done.
    func response(to answer: FormAnswer, on visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse?
    /// Says that there is nothing to see at a path.
    /// - Parameter visit: of that path, whatever is there.
    /// - Returns: nil for the answer of WebDAV.
    func response(refusing visit: CollectionVisit, with status: HTTPStatus) -> HTTPResponse?
}

extension CollectionPage {
    /// None, for a page that only shows.
    public func archive(
        of members: [[UInt8]], _ visit: CollectionVisit
    ) async throws(HTTPError) -> HTTPResponse? { nil }

    /// None, for a page that is one document.
    public func file(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse? { nil }

    /// None, for a page of what is there.
    public func response(refusing visit: CollectionVisit, with status: HTTPStatus) -> HTTPResponse? { nil }

    /// None, for a page without forms.
    public func response(
        to answer: FormAnswer, on visit: CollectionVisit
    ) async throws(HTTPError) -> HTTPResponse? { nil }
}

/// Where the files are that the page itself consists of, as seen from the root of the share.
///
/// The name has the form that stores keep for what is not part of a share, so that no resource can have it.
public enum PageFilePath {
    /// One segment.
    public static let name = ".davit-browserpagefiles"

    private static let collection = ResourcePath(unchecked: Array(name.utf8))

    /// What follows it in a path; nil for a path of the share.
    static func rest(of path: ResourcePath) -> [ArraySlice<UInt8>]? {
        // Nearly all paths differ in their first byte.
        guard path.bytes.first == UInt8(ascii: "."), collection.contains(path) else { return nil }
        return Array(path.segments.dropFirst())
    }
}

/// A GET or HEAD on a collection, and the way to its members.
public struct CollectionVisit: Sendable {
    /// As asked for: the page speaks of the names that the visitor used.
    public let path: ResourcePath
    /// Whether the URL of the request ends in a slash: without one, relative links start from the collection above.
    public let endsInSlash: Bool
    /// The request, for what it says of the visitor: languages, query.
    public let request: HTTPRequest
    /// The root of the share and the collection as hrefs, percent-encoded, with a slash at the end.
    public let rootHref: [UInt8], href: [UInt8]
    /// The last segment of the prefix below which the share is mounted, decoded; empty where it is not mounted.
    public let mountName: [UInt8]
    let share: Share
    /// Canonical.
    let target: ResourcePath

    /// - Parameter target: what the request is about, canonical.
    init(_ context: RequestContext, target: ResourcePath, share: Share) {
        path = context.path
        endsInSlash = context.endsInSlash && !context.isMountItself
        request = context.request
        rootHref = context.collectionHref(of: .root)
        href = context.collectionHref(of: context.path)
        mountName = Array(context.mount.name)
        self.share = share
        self.target = target
    }

    /// Whether the share can be changed at all.
    public var isReadOnly: Bool { share.configuration.isReadOnly }
    /// Whether the visitor has come over TLS, also where a proxy ends that and says nothing of it.
    public var isSecure: Bool {
        if request.isSecure { return true }
        guard let host = request.host?.host else { return false }
        return share.configuration.securePublicHosts.contains { $0.utf8.elementsEqual(host) }
    }
    /// Whether a page of another site has this loaded, other than by a link that the browser has followed.
    public var isLoadedByOtherSite: Bool { share.refusesPage(of: request, acceptsLinks: true) }
    /// Whether somebody can be told of changes.
    public var hasJournal: Bool { share.journal != nil }
    /// Whether what is deleted and overwritten is kept.
    public var hasTrash: Bool { share.configuration.trash != nil }
    /// Bytes of the longest content that may be written; nil for no limit but that of the volume.
    public var maximumFileBytes: Int64? { share.configuration.maximumFileBytes }
    /// Which names are served.
    public var rules: ShareRules { share.configuration.rules }

    public func members() -> MemberReader { MemberReader(share: share, path: target) }
}

extension CollectionVisit {
    /// - Throws: 404 where there is no collection.
    init(to context: RequestContext, _ share: Share) async throws(WebDAVError) {
        let lookup = try await share.attempt { wait throws(WebDAVError) in
            try storing { () throws(StoreError) in try share.look(at: context.path, wait: wait) }
        }
        guard lookup.info?.isCollection == true else { throw WebDAVError(.notFound) }
        self.init(context, target: lookup.path, share: share)
    }
}

/// Reads the members of a collection without blocking the caller.
///
/// Belongs to one task, which lends it to one job of the pool at a time and waits for it: that is what makes
/// the unchecked conformance true.
public final class MemberReader: @unchecked Sendable {
    private let share: Share
    private let path: ResourcePath
    private var cursor: (any MemberCursor)?

    init(share: Share, path: ResourcePath) {
        self.share = share
        self.path = path
    }

    /// The next members, in the order of the volume; empty at the end.
    /// - Throws: when the collection cannot be read, or no longer; 503 when too much work waits.
    public func next() async throws(HTTPError) -> [Member] {
        try await offload { () throws(StoreError) in try self.opened().next() }
    }

    func offload<T: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) {
            return try await share.offload { () throws(WebDAVError) in try storing(body) }
        } catch {
            throw HTTPError(error.status, "the members could not be read")
        }
    }

    func opened() throws(StoreError) -> any MemberCursor {
        if let cursor { return cursor }
        let cursor = try share.resources.members(of: path)
        self.cursor = cursor
        return cursor
    }
}

package import DavitAccess
public import DavitHTTP
internal import DavitServer
public import DavitStore

/// Generates the responses that a browser receives for GET of a collection and for forms sent to it. Archives,
/// separate files, responses to forms and error pages are optional.
///
/// Only classes can conform: each request copies a reference to the page.
public protocol CollectionPage: AnyObject, Sendable {
    /// Returns the response to GET or HEAD of a collection.
    func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse
    /// Returns an archive of selected members of a collection, in response to a form.
    /// - Parameter members: the names of the members; not empty.
    /// - Returns: nil if the page does not support archives.
    func archive(
        of members: [[UInt8]], _ visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse?
    /// Returns a file that is part of the page, such as a script or a style sheet.
    /// - Parameter path: the path below ``PageFilePath``, decoded.
    /// - Returns: nil if there is no such file.
    func file(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse?
    /// Returns the response to a form that the user submitted to the collection.
    /// - Returns: nil for the default response: 303 to the collection if every action of the form succeeded,
    ///   otherwise the WebDAV response. If `answer` is a question, nil performs the action without asking.
    func response(to answer: FormOutcome, on visit: PageContext) async throws(HTTPError) -> HTTPResponse?
    /// Returns an error page for a path.
    /// - Parameter visit: the context of that path, which need not identify a collection.
    /// - Returns: nil to send the WebDAV response instead.
    func response(refusing visit: PageContext, with status: HTTPStatus) -> HTTPResponse?
}

extension CollectionPage {
    /// Returns nil: the page does not support archives.
    public func archive(
        of members: [[UInt8]], _ visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? { nil }

    /// Returns nil: the page has no separate files.
    public func file(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse? { nil }

    /// Returns nil: the page has no error pages.
    public func response(refusing visit: PageContext, with status: HTTPStatus) -> HTTPResponse? { nil }

    /// Returns nil: the page has no responses to forms.
    public func response(
        to answer: FormOutcome, on visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? { nil }

    /// Returns an error page for a GET or HEAD that failed with 403 or 404, if the client prefers HTML; nil
    /// to send the WebDAV response.
    func response(
        to request: HTTPRequest, refusedWith error: WebDAVError, by share: Share
    ) -> HTTPResponse? {
        guard request.method == .get || request.method == .head, error.connectionError == nil,
            error.status == .notFound || error.status == .forbidden, request.wantsHTML,
            let context = try? RequestContext(request, now: share.now())
        else { return nil }
        let visit = PageContext(context, target: context.path, share: share)
        return response(refusing: visit, with: error.status)
    }
}

/// The location of the files that are part of the page, relative to the root of the share.
///
/// Stores reserve names that consist of `.davit-` and 16 lower-case letters or digits from 2 to 7, so no
/// resource can have this name.
public enum PageFilePath {
    /// A single path segment.
    public static let name = ".davit-browserpagefiles"

    private static let collection = ReservedCollection(name)

    /// Returns the segments below ``name``; nil if `path` is not the path of a page file.
    package static func rest(of path: ResourcePath) -> [ArraySlice<UInt8>]? {
        guard collection.contains(path) else { return nil }
        return Array(path.segments.dropFirst())
    }
}

/// The context of a page: a GET, HEAD or form request to a collection, with access to its members. For an error
/// page, the path need not identify a collection.
public struct PageContext: Sendable {
    /// The requested path, with the names as the client spelled them; not canonical.
    public let path: ResourcePath
    /// Whether the URL of the request ends in a slash. If it does not, relative links resolve against the
    /// parent collection.
    public let endsInSlash: Bool
    /// The request, for example for its languages and query.
    public let request: HTTPRequest
    /// The hrefs of the root of the share and of the collection, percent-encoded, with a trailing slash.
    public let rootHref: [UInt8], href: [UInt8]
    /// The last segment of the prefix at which the share is mounted, decoded; empty if the share is not
    /// mounted.
    public let mountName: [UInt8]
    package let share: Share
    /// The canonical path.
    package let target: ResourcePath

    /// - Parameter target: the canonical path of the resource.
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

    /// Whether the share is read-only.
    public var isReadOnly: Bool { share.configuration.isReadOnly }
    /// Whether the client uses TLS. Also true if the request host is configured as secure, for TLS that ends
    /// at a proxy that does not forward this information.
    public var isSecure: Bool {
        if request.isSecure { return true }
        guard let host = request.host?.host else { return false }
        return share.configuration.securePublicHosts.contains { $0.utf8.elementsEqual(host) }
    }
    /// Whether a page of another origin loads this resource. False for configured origins, and if the user
    /// followed a link.
    public var isEmbeddedByOtherOrigin: Bool { share.origins.refusesPage(of: request, acceptsLinks: true) }
    /// Whether clients can be notified of changes.
    public var hasJournal: Bool { share.journal != nil }
    /// Whether deleted and overwritten resources are moved to a trash.
    public var hasTrash: Bool { share.configuration.trash != nil }
    /// The maximum size of a file in bytes; nil if only the volume limits it.
    public var maximumFileBytes: Int64? { share.configuration.maximumFileBytes }
    /// The rules that decide which names are served.
    public var rules: ShareRules { share.configuration.rules }

    /// What the client may do with the collection.
    public var rights: ClientRights {
        let rights = share.clientRights(at: target, isCollection: true)
        // A link must be permitted itself, as well as what it leads to.
        return path == target ? rights : rights.intersection(share.clientRights(at: path, isCollection: true))
    }
    /// Whether accounts, groups and rules are in a database that can be changed while the server runs.
    public var hasAccountDatabase: Bool { share.configuration.hasAccountDatabase }
    /// The client, and how it has signed in.
    package var principal: Principal { request.identity }

    /// Whether what clients may do differs between resources.
    public var hasRights: Bool { share.hasRights }

    /// Returns what the client may do with a resource.
    public func rights(at path: ResourcePath, isCollection: Bool) -> ClientRights {
        share.clientRights(at: path, isCollection: isCollection)
    }

    /// Returns what the client may do with a member of the collection.
    public func rights(ofMember name: [UInt8], isCollection: Bool) -> ClientRights {
        guard share.hasRights, let path = target.appending(name) else { return .unrestricted }
        return share.clientRights(at: path, isCollection: isCollection)
    }

    public func members() -> MemberReader { MemberReader(share: share, path: target) }
}

extension PageContext {
    /// - Throws: 404 if the path does not identify a collection.
    init(to context: RequestContext, _ share: Share) async throws(WebDAVError) {
        let lookup = try await share.work.attempt { wait throws(WebDAVError) in
            try reading { () throws(StoreError) in try share.lookup.resource(at: context.path, wait: wait) }
        }
        guard lookup.info?.isCollection == true else { throw WebDAVError(.notFound) }
        self.init(context, target: lookup.path, share: share)
    }
}

/// Reads the members of a collection without blocking the caller.
///
/// Belongs to a single task, which passes it to one job of the pool at a time and waits for that job.
public final class MemberReader: Sendable {
    private let share: Share
    private let path: ResourcePath
    /// Nil before the first use.
    private let listing = Exclusive<MemberListing?>(nil)

    init(share: Share, path: ResourcePath) {
        self.share = share
        self.path = path
    }

    /// Returns the next members, in directory order (unsorted); empty at the end.
    /// - Throws: an error if the collection cannot be read or no longer exists; 503 if too much work is
    ///   waiting.
    public func next() async throws(HTTPError) -> [Member] {
        try await read { listing throws(StoreError) in try listing.next() }
    }

    func offload<T: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> T
    ) async throws(HTTPError) -> T {
        do throws(WebDAVError) {
            return try await share.work.run { () throws(WebDAVError) in try reading(body) }
        } catch {
            throw HTTPError(error.status, "The folder could not be read.")
        }
    }

    /// Runs `body` with the members that have not been read yet, on another thread.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (MemberListing) throws(StoreError) -> T
    ) async throws(HTTPError) -> T {
        try await offload { () throws(StoreError) in
            try self.listing.withValue { listing throws(StoreError) in
                let opened =
                    if let listing { listing } else {
                        try MemberListing(of: self.path, in: self.share.resources)
                    }
                listing = opened
                return try body(opened)
            }
        }
    }
}

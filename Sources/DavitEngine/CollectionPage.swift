public import DavitHTTP
internal import DavitServer
public import DavitStore

/// Makes what a browser gets for GET on a collection.
public protocol CollectionPage: Sendable {
    func response(to visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse
}

/// A GET or HEAD on a collection, and the way to its members.
public struct CollectionVisit: Sendable {
    /// As asked for: the page speaks of the names that the visitor used.
    public let path: ResourcePath
    /// Whether the URL of the request ends in a slash: without one, relative links start from the collection above.
    public let endsInSlash: Bool
    /// The last segment of the prefix below which the share is mounted, decoded; empty where it is not mounted.
    public let mountName: [UInt8]
    let share: Share
    /// Canonical.
    let target: ResourcePath

    public func members() -> MemberReader { MemberReader(share: share, path: target) }
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
        do throws(WebDAVError) {
            return try await share.offload { () throws(WebDAVError) in
                try storing { () throws(StoreError) in try self.nextNow() }
            }
        } catch {
            throw HTTPError(error.status, "the members could not be read")
        }
    }

    private func nextNow() throws(StoreError) -> [Member] {
        if let cursor { return try cursor.next() }
        let cursor = try share.resources.members(of: path)
        self.cursor = cursor
        return try cursor.next()
    }
}

public import DavitEngine
public import DavitHTTP
internal import DavitListing

/// Responds to GET on a collection with a page of its members.
public final class FolderListing: CollectionPage {
    private let queries = FolderQueries()

    public init() {}

    public func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        if let response = try await queries.response(to: visit) { return response }
        let page = ListingPage(
            segments: visit.path.segments.map { Array($0) }, endsInSlash: visit.endsInSlash,
            mountName: visit.mountName)
        return try await page.response(visit.members())
    }

    public func archive(
        of members: [[UInt8]], _ visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? {
        try await queries.archive(of: members, visit)
    }
}

extension MemberReader: MemberPages {}

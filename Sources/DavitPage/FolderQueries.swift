internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitQRCode
internal import DavitServer

/// Responds to queries on a collection that request something other than the page.
struct FolderQueries: Sendable {
    private let archives: ArchiveDownloads

    init(_ settings: PageSettings = PageSettings()) {
        archives = ArchiveDownloads(
            listedEstimateLimit: settings.archiveListedEstimateLimit,
            estimateLimit: settings.archiveEstimateLimit)
    }

    /// - Returns: nil if the page is requested.
    /// - Throws: 400 for an invalid query, and any error from reading the collection.
    func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse? {
        guard visit.request.target.rawQuery != nil else { return nil }
        let query = visit.request.query
        if query[.archive] != nil {
            // Requesting an archive costs a page of another origin nothing, but generating it costs the
            // server.
            if visit.isEmbeddedByOtherOrigin {
                return .error(.forbidden, "Cross-origin requests are not allowed.", for: visit.request)
            }
            let choice: ArchiveChoice
            do throws(HTTPError) { choice = try ArchiveChoice(query) } catch {
                return .error(error.status, error.reason, for: visit.request)
            }
            return try await archives.response(to: visit, choice)
        }
        if query[.json] != nil { return try await FolderJSON(visit.path).response(visit.members()) }
        if query[.qr] != nil { return AddressCode.response(to: visit) }
        return nil
    }

    /// Returns an archive of the members selected in a form.
    func archive(of members: [[UInt8]], _ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        try await archives.response(to: visit, ArchiveChoice(names: members))
    }
}

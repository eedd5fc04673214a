internal import DavitEngine
internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

/// What GET on a collection answers instead of the page, as its query asks for it.
struct FolderQueries: Sendable {
    private let archives = ArchiveDownloads()

    /// - Returns: nil if the page is asked for.
    /// - Throws: 400 for a query that makes no sense, and what reading the collection throws.
    func response(to visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse? {
        guard visit.request.target.rawQuery != nil else { return nil }
        let query = visit.request.query
        if query["archive"] != nil {
            // It costs the server more than the page that has it loaded.
            if visit.isLoadedByOtherSite {
                return .error(.forbidden, "A page of another site has asked for this.", for: visit.request)
            }
            let choice: ArchiveChoice
            do throws(HTTPError) { choice = try ArchiveChoice(query) } catch {
                return .error(error.status, error.reason, for: visit.request)
            }
            return try await archives.response(to: visit, choice)
        }
        if query["qr"] != nil { return AddressCode.response(to: visit) }
        return nil
    }

    /// An archive of some members, from a form.
    func archive(of members: [[UInt8]], _ visit: CollectionVisit) async throws(HTTPError) -> HTTPResponse {
        try await archives.response(to: visit, ArchiveChoice(names: members))
    }
}

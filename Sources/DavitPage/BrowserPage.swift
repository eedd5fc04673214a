public import DavitEngine
public import DavitHTTP
internal import DavitListing
internal import DavitStore

/// The browser page of a share. Without scripts, it is plain HTML with forms for all basic actions. When the
/// scripts load, they replace it.
public final class BrowserPage: CollectionPage {
    /// The maximum number of subfolders offered as the destination of a move or copy, in addition to the
    /// ancestors.
    private static let knownFolderLimit = 200

    private let settings: PageSettings
    private let queries: FolderQueries

    public init(settings: PageSettings = PageSettings()) {
        self.settings = settings
        queries = FolderQueries(settings)
    }

    public func response(to visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        if let response = try await queries.response(to: visit) { return response }
        if let about = visit.request.query[.about], let name = PercentCoding.decode(Array(about.utf8)) {
            return try await self.about(name, visit)
        }
        if visit.hasTrash, visit.request.query[.trash] != nil {
            let page = PlainPage(visit, settings, subject: .trash, runsScripts: true)
            let view = try await TrashView(page)
            return page.response(.ok) { view.append(to: &$0) }
        }
        let page = PlainPage(visit, settings, runsScripts: true)
        let query = FolderQuery(visit.request)
        let kept = visit.isReadOnly || query.kept.isEmpty ? [] : try await visit.trash(query.kept)
        let stream = FolderStream(FolderView(page, query, kept: kept))
        try await stream.begin()
        var response = HTTPResponse(status: .ok, body: .stream(stream))
        page.appendFields(to: &response.fields)
        return response
    }

    public func archive(
        of members: [[UInt8]], _ visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? {
        try await queries.archive(of: members, visit)
    }

    public func file(at path: [ArraySlice<UInt8>], for request: HTTPRequest) -> HTTPResponse? {
        PageFiles.shared.response(at: path, for: request)
    }

    public func response(
        to answer: FormOutcome, on visit: PageContext
    ) async throws(HTTPError) -> HTTPResponse? {
        let page = PlainPage(visit, settings, runsScripts: false)
        switch answer {
        // The forms for these actions always send the confirmation.
        case .asks(.unlock, _), .asks(.purge, _):
            let view = FailureView(page: page, status: .badRequest, results: [])
            return page.response(.badRequest) { view.append(to: &$0) }
        case .asks(let action, let members):
            let folders = action == .delete ? [] : try await knownFolders(visit, without: members)
            let view = ConfirmationView(page: page, action: action, members: members, folders: folders)
            return page.response(.ok) { view.append(to: &$0) }
        case .ended(let action, let status, let results):
            if !results.isEmpty, results.allSatisfy(\.isDone) { return nil }
            // Show a 207 as a conflict: part of a member's contents could not be changed.
            let shown = status == .multistatus ? HTTPStatus.conflict : status
            let kept = action == .delete ? results.flatMap(\.kept) : []
            let view = FailureView(
                page: page, action: action, status: status, results: results, kept: kept)
            return page.response(shown) { view.append(to: &$0) }
        }
    }

    public func response(refusing visit: PageContext, with status: HTTPStatus) -> HTTPResponse? {
        let page = PlainPage(visit, settings, runsScripts: false)
        let view = FailureView(page: page, status: status, results: [], isElsewhere: true)
        return page.response(status) { view.append(to: &$0) }
    }

    private func about(_ name: [UInt8], _ visit: PageContext) async throws(HTTPError) -> HTTPResponse {
        let page = PlainPage(visit, settings, runsScripts: false)
        let member: PageMember
        do throws(HTTPError) { member = try await visit.member(name) } catch {
            let view = FailureView(page: page, status: error.status, results: [])
            return page.response(error.status) { view.append(to: &$0) }
        }
        return page.response(.ok) { AboutView(page, name, member).append(to: &$0) }
    }

    /// Returns the ancestors of this folder and its first subfolders, sorted, without the members to be
    /// transferred.
    private func knownFolders(
        _ visit: PageContext, without members: [[UInt8]]
    ) async throws(HTTPError) -> [ResourcePath] {
        let selection = FolderSelection(FolderOrder(), from: .start, limit: Self.knownFolderLimit)
        let reader = visit.members()
        while try await reader.read(
            4096,
            { member in
                if member.info.isCollection { selection.take(ListingEntry(member)) }
            })
        {}
        var folders: [ResourcePath] = []
        var above = visit.path.parent
        while let folder = above {
            if visit.rights(at: folder, isCollection: true).mayCreate { folders.insert(folder, at: 0) }
            above = folder.parent
        }
        let transferred = Set(members)
        for entry in selection.finish().entries
        where !transferred.contains(entry.name)
            && visit.rights(ofMember: entry.name, isCollection: true).mayCreate
        {
            if let path = visit.path.appending(entry.name) { folders.append(path) }
        }
        return folders
    }
}

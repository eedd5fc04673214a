internal import DavitArchive
internal import DavitEngine
internal import DavitHTTP
internal import DavitServer
internal import Synchronization

/// Serves collections as ZIP files: GET with `?archive`, POST with `?action=archive`.
///
/// The field `Davit-Archive` summarizes the contents, including in responses to HEAD. Content-Length is sent
/// if everything is stored without compression and the collection is small enough to survey first.
final class ArchiveDownloads: Sendable {
    /// The maximum number of members to survey before an archive is sent, and for HEAD. Beyond it, the
    /// reported counts are partial.
    private let listedEstimateLimit: Int, estimateLimit: Int
    /// The maximum number of entries in `broken`.
    private static let brokenLimit = 64

    /// Collections that changed while they were archived; later archives of them are sent without a length.
    private let broken = Mutex<[ResourcePath]>([])

    init(listedEstimateLimit: Int, estimateLimit: Int) {
        self.listedEstimateLimit = listedEstimateLimit
        self.estimateLimit = estimateLimit
    }

    /// Returns the archive; 404 if none of the chosen members exists; 501 without libarchive.
    /// - Throws: 500 if the archive cannot be created, and any error from reading the collection.
    func response(
        to visit: PageContext, _ choice: ArchiveChoice
    ) async throws(HTTPError) -> HTTPResponse {
        #if Archive
        var choice = choice
        choice.removeDuplicates()
        let isHead = visit.request.method == .head
        let estimate = ArchiveEstimate(
            try await visit.traversal(of: choice.names), of: visit.target,
            limit: isHead ? estimateLimit : listedEstimateLimit, keptLimit: listedEstimateLimit,
            needsEntries: !isHead)
        while try await visit.offload({ estimate.go() }) {
            if Task.isCancelled { throw .disconnected }
        }
        if choice.names != nil, estimate.current().isWithoutMembers {
            return .error(.notFound, "None of the selected items exists.", for: visit.request)
        }
        let layout = ArchiveLayout(visit, choice)
        let length = try await promisedLength(estimate, layout, visit)
        var response = HTTPResponse(status: .ok)
        Self.appendFields(to: &response.fields, layout, estimate.current())
        if isHead {
            response.body = .stream(ArchiveLength(length))
            return response
        }
        do throws(ArchiveError) {
            let builder = try ArchiveBuilder(estimate, layout, isPromised: length != nil, now: visit.now)
            let stream = ArchiveStream(builder, visit, length: length) { [self, path = visit.path] in
                record(path)
            }
            response.body = .stream(stream)
        } catch {
            throw HTTPError(.internalServerError, "The archive could not be created.")
        }
        visit.notifyDownload()
        return response
        #else
        return .error(.notImplemented, "This server was built without ZIP support.", for: visit.request)
        #endif
    }

    #if Archive
    private func promisedLength(
        _ estimate: ArchiveEstimate, _ layout: ArchiveLayout, _ visit: PageContext
    ) async throws(HTTPError) -> Int64? {
        guard Self.length(estimate.current(), layout) != nil,
            !broken.withLock({ $0.contains(visit.path) })
        else { return nil }
        var index: Int? = 0
        while let start = index {
            index = try await visit.offload { estimate.open(from: start) }
        }
        return Self.length(estimate.current(), layout)
    }

    private static func length(_ estimate: ArchiveEstimate.State, _ layout: ArchiveLayout) -> Int64? {
        guard estimate.isWhole, estimate.areEntriesKept else { return nil }
        return layout.length(of: estimate.entries, estimate.report)
    }

    private func record(_ path: ResourcePath) {
        broken.withLock { paths in
            if paths.contains(path) { return }
            if paths.count == Self.brokenLimit { paths.removeFirst() }
            paths.append(path)
        }
    }

    private static func appendFields(
        to fields: inout HTTPFields, _ layout: ArchiveLayout, _ estimate: ArchiveEstimate.State
    ) {
        fields.append(.contentType, "application/zip")
        fields.append(.contentDisposition, ContentDisposition.attachment(named: layout.fileName))
        fields.append(named: "Davit-Archive", estimate.summary)
        // Each request generates the archive again, possibly with different bytes.
        fields.append(.acceptRanges, "none")
        fields.append(.cacheControl, "no-store")
        fields.append(.xContentTypeOptions, "nosniff")
    }
    #endif
}

internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitStore

/// Writes the page of a folder while the folder is read: the head immediately, so that the browser shows
/// something, and the rest when the members of the page are known.
final class FolderStream: BodyStream {
    /// The maximum number of members read in one job, so that it does not occupy the thread for long.
    private static let jobLimit = 4096
    /// The size in bytes from which rendered rows are sent before further ones are rendered.
    private static let pieceBytes = 64 << 10

    private enum Phase { case head, rows, ended }

    private let view: FolderView
    private let members: MemberReader
    private let selection: FolderSelection
    private var phase = Phase.head
    /// The members of the page, of which ``writtenCount`` have been written; nil until they are known.
    private var page: FolderSelection.Page?
    private var writtenCount = 0
    private var available: Int64?
    private var isRead = false
    private var ready: ArraySlice<UInt8> = []

    init(_ view: FolderView) {
        self.view = view
        members = view.page.visit.members()
        selection = FolderSelection(
            view.query.order, from: view.query.edge, limit: FolderQuery.pageLimit,
            filter: NameFilter(view.query.find))
    }

    /// Reads the first members before the head is sent, so that a failure still gets a status.
    func begin() async throws(HTTPError) { try await read(limit: 256) }

    /// Whether to send pieces immediately: the head is sent before the folder is read.
    var flushesImmediately: Bool { !isRead }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while ready.isEmpty && phase != .ended { ready = await more()[...] }
        let taken = unsafe ready.withUnsafeBytes { unsafe buffer.append($0) }
        ready = ready.dropFirst(taken)
    }

    private func more() async -> [UInt8] {
        switch phase {
        case .head:
            var html = HTMLText()
            view.appendHead(to: &html)
            phase = .rows
            return html.bytes
        case .rows:
            if page == nil { available = await view.page.visit.availableBytes() }
            do throws(HTTPError) {
                while !isRead { try await read(limit: Self.jobLimit) }
                return try await rows()
            } catch {
                phase = .ended
                var html = HTMLText()
                view.appendFoot(nil, available: available, to: &html)
                return html.bytes
            }
        case .ended: return []
        }
    }

    /// Renders the next rows, and the foot after the last one. The text is several times larger than the members.
    private func rows() async throws(HTTPError) -> [UInt8] {
        let (start, available) = (writtenCount, available)
        let (page, end, bytes) = try await members.work { [view, selection, page] in
            let page = page ?? selection.finish()
            var html = HTMLText()
            var end = start
            while end < page.entries.count, html.bytes.count < Self.pieceBytes {
                view.append(page.entries[end], to: &html)
                end += 1
            }
            if end == page.entries.count { view.appendFoot(page, available: available, to: &html) }
            return (page, end, html.bytes)
        }
        (self.page, writtenCount) = (page, end)
        if end == page.entries.count {
            phase = .ended
            self.page = nil
        }
        return bytes
    }

    private func read(limit: Int) async throws(HTTPError) {
        isRead =
            !(try await members.read(limit) { [selection] member in selection.take(ListingEntry(member)) })
    }
}

extension ListingEntry {
    init(_ member: Member) {
        self.init(
            name: member.name, isCollection: member.info.isCollection, length: member.info.length,
            modified: member.info.modified)
    }
}

internal import DavitArchive
internal import DavitEngine
internal import DavitHTTP
internal import DavitQRCode

/// Features of a share beyond plain WebDAV. The page uses this list with scripts (`features` in its data) and
/// without.
enum PageFeature: String, CaseIterable, Sendable {
    /// Locks are enforced and shown.
    case locks
    /// SEARCH (RFC 5323).
    case search
    /// Uploads can be resumed over several requests.
    case uploads
    /// `?events` streams changes.
    case events
    /// Deleted and overwritten resources are kept; the response field `Davit-Trash` contains the trash ID.
    case trash
    /// `?archive` downloads a folder as a ZIP file.
    case archive
    /// `?qr` returns the address of a folder as a QR code.
    case qr
    /// `?account` shows the account of the visitor, who can sign out there; visitors who have not signed in can do so there.
    case account
    /// `/.davit-trust` shows how devices can trust the server's own authority.
    case authority

    /// Whether the share provides the feature to its visitor.
    func isAvailable(for visit: PageContext) -> Bool {
        switch self {
        case .locks, .search: true
        case .uploads: !visit.isReadOnly
        case .events: visit.hasJournal
        case .trash: visit.hasTrash
        case .archive: ArchiveLibrary.isAvailable
        case .qr: QRCodeLibrary.isAvailable
        case .authority: visit.request.hasTrustPage
        case .account: visit.request.hasAccountPage
        }
    }

    static func all(of visit: PageContext) -> [PageFeature] {
        allCases.filter { $0.isAvailable(for: visit) }
    }
}

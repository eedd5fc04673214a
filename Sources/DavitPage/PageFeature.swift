internal import DavitArchive
internal import DavitEngine
internal import DavitQRCode

/// What a share can do besides what every WebDAV server can: the one list that the page goes by, with scripts (`features`
/// in the data of the page) and without.
enum PageFeature: String, CaseIterable, Sendable {
    /// Locks are shown, and hold.
    case locks
    /// SEARCH (RFC 5323).
    case search
    /// Uploads go on over several requests.
    case uploads
    /// `?events` tells of changes.
    case events
    /// What is deleted and overwritten is kept, and `Davit-Trash` names it.
    case trash
    /// `?archive` is a folder as one file.
    case archive
    /// `?qr` is the address of a folder as a picture.
    case qr

    /// Whether a share has it, as far as its visitor is concerned.
    func isThere(for visit: CollectionVisit) -> Bool {
        switch self {
        case .locks, .search: true
        case .uploads: !visit.isReadOnly
        case .events: visit.hasJournal
        case .trash: visit.hasTrash
        case .archive: ArchiveLibrary.isAvailable
        case .qr: QRCodeLibrary.isAvailable
        }
    }

    static func all(of visit: CollectionVisit) -> [PageFeature] { allCases.filter { $0.isThere(for: visit) } }
}

public import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Where the changes of a share are recorded.
public struct ShareAudit: Sendable {
    private let trail: any AuditTrail
    /// The folder of the share, by which its records are recognized.
    private let folder: String

    /// - Parameter folder: the folder of the share, which each record contains.
    public init(_ trail: any AuditTrail, folder: String) {
        self.trail = trail
        self.folder = folder
    }

    /// Checks that a change can be recorded.
    /// - Throws: 507 if there is no space for the record, 503 if it cannot be written for another reason.
    func admitChange() throws(WebDAVError) {
        switch trail.admission() {
        case .admitted: return
        case .outOfSpace: throw WebDAVError(.insufficientStorage, .sufficientDiskSpace)
        case .unavailable: throw .busy
        }
    }

    /// Checks that an administrative change can be recorded.
    /// - Throws: `failed` if it cannot.
    func admitAdministration() throws(StoreError) {
        if trail.admission() != .admitted {
            throw .failed(reason: "the audit log of the server cannot be written")
        }
    }

    func record(_ event: consuming AuditEvent) {
        event.share = folder
        trail.record(event)
    }
}

extension AuditEvent {
    /// Describes the permanent removal of a trash entry.
    init(purgeOf entry: TrashEntry, from origin: String? = nil) {
        self.init(.purge)
        path = entry.path
        trashID = entry.id
        self.origin = origin
    }
}

package import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Where the events of a share are stored for other programs.
package struct ShareOutbox: Sendable {
    private let outbox: any ChangeOutbox
    /// The folder of the share, by which its events are recognized.
    private let folder: String

    /// - Parameter folder: the folder of the share, which each event contains.
    package init(_ outbox: any ChangeOutbox, folder: String) {
        self.outbox = outbox
        self.folder = folder
    }

    func accepts(_ operation: AuditEvent.Operation) -> Bool { outbox.accepts(operation) }

    /// Stores an event whose change is about to be committed. Blocks.
    /// - Returns: its ID.
    /// - Throws: 507 if there is no space for the event, 503 if it cannot be stored for another reason.
    func prepare(_ event: consuming AuditEvent) throws(WebDAVError) -> String {
        event.share = folder
        do throws(OutboxError) { return try outbox.prepare(event) } catch {
            switch error {
            case .outOfSpace: throw WebDAVError(.insufficientStorage, .sufficientDiskSpace)
            case .failed: throw .busy
            }
        }
    }

    /// Passes on the event of a committed change. Blocks.
    func complete(_ id: String, _ event: consuming AuditEvent) {
        event.share = folder
        outbox.complete(id, event)
    }

    /// Removes the event of a change that was not committed. Blocks.
    func cancel(_ id: String) { outbox.cancel(id) }
}

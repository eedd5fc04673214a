package import DavitEngine
package import DavitSQLite
package import DavitServer
internal import DavitStore

/// Handles requests about a share and its state, in the server that owns them or, if none is running, in the
/// command. Calls block.
package struct StateAdmin: Sendable {
    /// Nil for a share in a database that several servers use.
    private let store: SQLiteStateStore?
    private let share: Share
    private let accounts: AccountAdmin
    private let bans: BanList?
    private let origin: String
    private let status: @Sendable () -> ControlResponse?

    /// - Parameters:
    ///   - store: nil for a share in a database that several servers use.
    ///   - bans: nil if they are elsewhere; those of the server, or those in the state folder.
    ///   - origin: the origin of the request, for the log.
    ///   - status: responds to a request for the status of the server; returns nil if there is no server.
    package init(
        store: SQLiteStateStore? = nil, share: Share, accounts: AccountAdmin, bans: BanList? = nil,
        origin: String,
        status: @escaping @Sendable () -> ControlResponse? = { nil }
    ) {
        self.store = store
        self.share = share
        self.accounts = accounts
        self.bans = bans
        self.origin = origin
        self.status = status
    }

    package func answer(_ request: ControlRequest) -> ControlResponse {
        let (locks, trash) = (LockAdmin(share: share, origin: origin), TrashAdmin(share: share))
        let uploads = UploadAdmin(share: share, origin: origin)
        do throws(StateError) {
            switch request {
            case .status: return status() ?? .refused(reason: "the server is not running")
            case .check:
                guard let store else { return .refused(reason: "the share is in a database") }
                return .lines(try store.integrityCheck())
            case .locks(let skipped): return locks.list(from: skipped)
            case .breakLocks(let selection): return locks.end(selection)
            case .uploads(let skipped): return uploads.list(from: skipped)
            case .cancelUpload(let id): return uploads.cancel(id)
            case .trash(let number): return .lines(try trash.entries(after: number))
            case .restore(let id): return .lines(try trash.restore(id))
            case .emptyTrash(let days): return .lines(trash.empty(olderThanDays: days))
            // Handled by the share of a server.
            case .reload: return .refused(reason: "no server is running")
            case .bans(let skipped): return answer { $0.list(from: skipped) }
            case .ban(let address, let seconds): return answer { $0.ban(address, seconds: seconds) }
            case .unban(let address): return answer { $0.lift(address) }
            case .accounts(let request): return accounts.answer(request, share: share, from: origin)
            }
        } catch {
            return .refused(reason: error.text)
        }
    }

    private func answer(_ body: (BanAdmin) -> ControlResponse) -> ControlResponse {
        guard let bans else { return .refused(reason: "each server has bans of its own") }
        return body(BanAdmin(bans: bans))
    }
}

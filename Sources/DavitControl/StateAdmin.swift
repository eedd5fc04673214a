package import DavitEngine
package import DavitSQLite
internal import DavitStore

/// Handles requests about a share and its state, in the server that owns them or, if none is running, in the
/// command. Calls block.
package struct StateAdmin: Sendable {
    private let store: SQLiteStateStore
    private let share: Share
    private let accounts: AccountAdmin
    private let origin: String

    /// - Parameter origin: the origin of the request, for the log.
    package init(store: SQLiteStateStore, share: Share, accounts: AccountAdmin, origin: String) {
        self.store = store
        self.share = share
        self.accounts = accounts
        self.origin = origin
    }

    package func answer(_ request: ControlRequest) -> ControlResponse {
        let (locks, trash) = (LockAdmin(share: share, origin: origin), TrashAdmin(share: share))
        do throws(StateError) {
            switch request {
            case .check: return .lines(try store.integrityCheck())
            case .locks(let skipped): return locks.list(from: skipped)
            case .breakLocks(let selection): return locks.end(selection)
            case .trash(let number): return .lines(try trash.entries(after: number))
            case .restore(let id): return .lines(try trash.restore(id))
            case .emptyTrash(let days): return .lines(trash.empty(olderThanDays: days))
            case .accounts(let request): return accounts.answer(request)
            }
        } catch {
            return .refused(reason: error.text)
        }
    }
}

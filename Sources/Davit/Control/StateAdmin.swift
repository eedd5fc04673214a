internal import DavitEngine
internal import DavitSQLite
internal import DavitStore

/// Handles requests about a share and its state, in the server that owns them or, if none is running, in the
/// command. Calls block.
struct StateAdmin: Sendable {
    let store: SQLiteStateStore
    let share: Share
    /// The origin of the request, for the log.
    let origin: String

    func answer(_ request: ControlRequest) -> ControlResponse {
        let (locks, trash) = (LockAdmin(share: share, origin: origin), TrashAdmin(share: share))
        do throws(StateError) {
            switch request {
            case .check: return .lines(try store.integrityCheck())
            case .locks(let skipped): return locks.list(from: skipped)
            case .breakLocks(let selection): return locks.end(selection)
            case .trash(let number): return .lines(try trash.entries(after: number))
            case .restore(let id): return .lines(try trash.restore(id))
            case .emptyTrash(let days): return .lines(trash.empty(olderThanDays: days))
            }
        } catch {
            return .refused(reason: error.text)
        }
    }
}

import DavitEngine
import DavitFileStore
import DavitHTTP
import DavitServer
import DavitStore
import DavitTesting
import Synchronization

/// A journal whose contents are set by the test.
final class ScriptedJournal: ChangeJournal {
    struct State {
        var position = JournalPosition(journal: "aa", last: 1_000, forgotten: 0)
        var changes: [ResourceChange] = []
        var error: JournalError?
        var listeners: [@Sendable (Int64?) -> Void] = []
    }

    let state = Mutex(State())

    func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        let (position, error) = state.withLock { ($0.position, $0.error) }
        if let error { throw error }
        return position
    }

    func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange] {
        let (position, changes) = state.withLock { ($0.position, $0.changes) }
        guard token.isValid(at: position) else { throw .forgotten }
        let asked = changes.filter { change in
            guard let parent = change.path.parent else { return false }
            return change.number > token.number && change.number <= through
                && (isDeep ? path.contains(parent) : path == parent)
        }
        return Array(asked.prefix(limit))
    }

    func onChange(_ body: @escaping @Sendable (Int64?) -> Void) {
        state.withLock { $0.listeners.append(body) }
    }

    /// Notifies the listeners of the change with the number `last`; nil for a possible change.
    func notify(_ last: Int64? = nil) {
        for listener in state.withLock({ $0.listeners }) { listener(last) }
    }

    /// Records a change of a member of the root.
    func add(_ name: String, notifies: Bool = true) {
        let last = state.withLock { state in
            state.position.last += 1
            state.changes.append(
                ResourceChange(
                    number: state.position.last, path: ResourcePath(segments: [Array(name.utf8)]) ?? .root,
                    kind: .changed, isCollection: false))
            return state.position.last
        }
        if notifies { notify(last) }
    }

    /// Creates a share that uses this journal, which never reads `folder`.
    func share(of folder: TemporaryFolder) throws -> Share {
        Share(
            resources: try FileResourceStore(root: folder.path),
            state: try IndexedShareState(store: MemoryStateStore()),
            journal: self, work: Inline(), configuration: ShareConfiguration(),
            now: { Timestamp(seconds: 1_800_000_000) }, report: { _ in })
    }

    private struct Inline: BlockingWorkRunner {
        func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T? { work() }
    }
}

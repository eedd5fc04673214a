public import DavitHTTP
internal import Synchronization

/// Records the changes in a share, whether made by this server or by other programs. Collection
/// synchronization (RFC 6578) and change events are based on this record. All calls may block, except those
/// of ``JournalPass``.
///
/// A journal is idle until its first query and has no cost until then. Every change of a member gets a number
/// higher than those of all earlier changes; only the last change of each member is stored.
public protocol ChangeJournal: AnyObject, Sendable {
    /// Continues, for a short time, to compare the recorded state of the folders that the pass covers with
    /// the file system.
    ///
    /// - Returns: the position of the journal, once it contains everything that happened before the pass
    ///   began; nil if there is more to compare.
    /// - Throws: ``JournalError``; `gone` if the collection no longer exists.
    func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition?

    /// Returns the last changes of the members of a collection, ordered by number.
    ///
    /// Cost: proportional to the number of changes in the share since `token`, until `limit` matches are
    /// found.
    /// - Parameters:
    ///   - isDeep: whether to include all descendants, except those that were removed together with an
    ///     ancestor.
    ///   - token: the state known to the client; changes up to its number are omitted.
    ///   - through: changes with higher numbers are omitted.
    /// - Throws: ``JournalError``; `forgotten` if the journal no longer has all changes since `token`.
    func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange]

    /// Registers `body` to be called when something in the share has changed or may have changed, on the
    /// thread that detects it. `body` may query the journal. There are no notifications while the journal is
    /// idle.
    /// - Parameter body: receives the number of the last recorded change, or nil if a change was detected but
    ///   not yet compared.
    func onChange(_ body: @escaping @Sendable (_ last: Int64?) -> Void)
}

/// The state of one query to a journal, across calls of ``ChangeJournal/advance(_:)``. Used by one task.
public final class JournalPass: Sendable {
    /// The canonical path of the queried collection.
    public let path: ResourcePath
    /// Whether the query includes all descendants.
    public let isDeep: Bool
    /// Additional folders that the query includes.
    private let others: WatchedFolders?
    private let hasBegun: Atomic<Bool>

    /// Creates a query.
    public init(_ path: ResourcePath, isDeep: Bool) {
        self.path = path
        self.isDeep = isDeep
        others = nil
        hasBegun = Atomic(false)
    }

    /// Creates a query for the subscribers of change events: only folders for which events have been reported
    /// are compared again. The query covers the root itself and `folders`.
    package init(following folders: WatchedFolders) {
        path = .root
        isDeep = false
        others = folders
        hasBegun = Atomic(true)
    }

    /// Whether the query is for the subscribers of change events.
    package var followsSubscribers: Bool { others != nil }

    /// Whether the query includes `folder`.
    public func covers(_ folder: ResourcePath) -> Bool {
        (isDeep ? path.contains(folder) : path == folder) || others?.covers(folder) == true
    }

    /// Returns true on the first call, unless the query is for subscribers; false on all later calls.
    public func begin() -> Bool { !hasBegun.exchange(true, ordering: .relaxed) }
}

/// Folders with subscribers.
package struct WatchedFolders: Sendable {
    /// Folders whose direct members are watched.
    package var flat: Set<ResourcePath> = []
    /// Folders of which all descendants are watched.
    package var deep: Set<ResourcePath> = []

    package init() {}

    func covers(_ folder: ResourcePath) -> Bool {
        flat.contains(folder) || deep.contains { $0.contains(folder) }
    }
}

/// The state of a journal at one point in time.
public struct JournalPosition: Hashable, Sendable {
    /// Identifies the journal: 32 hexadecimal digits.
    public var journal: String
    /// The highest change number.
    public var last: Int64
    /// Removals up to this number have been discarded.
    public var forgotten: Int64

    /// Creates a position from values recorded by a journal.
    public init(journal: String, last: Int64, forgotten: Int64) {
        self.journal = journal
        self.last = last
        self.forgotten = forgotten
    }
}

/// The last change of a member.
public struct ResourceChange: Hashable, Sendable {
    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// The member is new or was modified.
        case changed
        /// Like `changed`, for a link to a collection. The journal records the members of the collection
        /// under its canonical path.
        case linkedCollection
        /// The member no longer exists.
        case removed
    }

    /// The number of the change, unique in the journal.
    public var number: Int64
    /// The path of the member: canonical, except that the last segment may be a link.
    public var path: ResourcePath
    /// Whether the member was changed or removed, and whether it is a link to a collection.
    public var kind: Kind
    /// Whether the member is, or was, a collection.
    public var isCollection: Bool

    /// Creates a change from values recorded by a journal.
    public init(number: Int64, path: ResourcePath, kind: Kind, isCollection: Bool) {
        self.number = number
        self.path = path
        self.kind = kind
        self.isCollection = isCollection
    }
}

/// The reason why a journal query failed.
public enum JournalError: Error, Hashable, Sendable {
    /// The server is shutting down, or the journal is not up to date yet; the query may be retried.
    case interrupted
    /// There is no collection at the path.
    case gone
    /// The journal cannot report all changes since the token: 403 with `valid-sync-token`.
    case forgotten
    /// The folder cannot be read; the status is that of the underlying error.
    case store(StoreError)
    /// The journal's database cannot be read or written; the status is that of the underlying error.
    case state(StateError)

    /// A message for the log.
    package var text: String {
        switch self {
        case .interrupted: "the server is stopping, or the journal is not up to date yet"
        case .gone: "the folder no longer exists"
        case .forgotten: "the journal cannot report all changes since the token"
        case .store(let error): error.text
        case .state(let error): error.text
        }
    }
}

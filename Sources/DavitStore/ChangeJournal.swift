public import DavitHTTP
internal import Synchronization

/// What changed in a share, whoever changed it: the ground of RFC 6578. Its calls block, but for those of ``JournalPass``.
///
/// A journal sleeps until it is asked for the first time, and costs nothing until then. Every change of a member has a
/// number, higher than those of all changes before; of a member only the last change counts.
public protocol ChangeJournal: AnyObject, Sendable {
    /// Goes on comparing what the journal knows at and below the path of the pass with what is there, for a short time.
    ///
    /// - Returns: where the journal stands, when everything that had happened there before the pass began is in it; nil
    ///   if there is more to compare.
    /// - Throws: ``JournalError``; `gone` if there is no collection any more.
    func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition?

    /// The last changes of the members of a collection, in the order of their numbers.
    ///
    /// Cost: that of the changes in the share since `token`, up to `limit` that are found.
    /// - Parameters:
    ///   - isDeep: also those of members of members, unless those are gone as a whole.
    ///   - token: what is known: numbers up to its own are left out.
    ///   - through: numbers above this one are left out.
    /// - Throws: ``JournalError``; `forgotten` if the journal cannot say any more what its holder has to know.
    func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange]

    /// Has `body` called when something in the share has changed or may have, on the thread that has found it out; it
    /// may ask the journal. Nothing is told while the journal sleeps.
    /// - Parameter body: gets the number of the last change that is recorded; nil where something has happened that is not
    ///   compared yet.
    func onChange(_ body: @escaping @Sendable (_ last: Int64?) -> Void)
}

/// One question to a journal, from ``ChangeJournal/advance(_:)`` to its answer. One task uses it.
public final class JournalPass: Sendable {
    /// The collection that is asked about, canonical.
    public let path: ResourcePath
    /// Whether members of its members are asked about, too.
    public let isDeep: Bool
    /// What else is asked about.
    private let others: WatchedFolders?
    private let isBegun: Atomic<Bool>

    /// A new question.
    public init(_ path: ResourcePath, isDeep: Bool) {
        self.path = path
        self.isDeep = isDeep
        others = nil
        isBegun = Atomic(false)
    }

    /// A question for those who were told of a change: only where something has happened, as far as events tell, is looked
    /// again. It is about the root itself, and these folders.
    package init(following folders: WatchedFolders) {
        path = .root
        isDeep = false
        others = folders
        isBegun = Atomic(true)
    }

    /// Whether a folder is asked about.
    public func covers(_ folder: ResourcePath) -> Bool {
        (isDeep ? path.contains(folder) : path == folder) || others?.covers(folder) == true
    }

    /// True the first time it is called.
    public func begin() -> Bool { !isBegun.exchange(true, ordering: .relaxed) }
}

/// Folders that somebody watches.
package struct WatchedFolders: Sendable {
    /// Those whose members are watched.
    package var flat: Set<ResourcePath> = []
    /// Those of which all below is.
    package var deep: Set<ResourcePath> = []

    package init() {}

    func covers(_ folder: ResourcePath) -> Bool {
        flat.contains(folder) || deep.contains { $0.contains(folder) }
    }
}

/// Where a journal stands.
public struct JournalPosition: Hashable, Sendable {
    /// Names the journal: 32 hexadecimal digits.
    public var journal: String
    /// The highest number of a change.
    public var last: Int64
    /// Removals up to this number are forgotten.
    public var forgotten: Int64

    /// A position, as the journal knows it.
    public init(journal: String, last: Int64, forgotten: Int64) {
        self.journal = journal
        self.last = last
        self.forgotten = forgotten
    }
}

/// The last change of a member.
public struct ResourceChange: Hashable, Sendable {
    /// What has become of it.
    public enum Kind: Hashable, Sendable {
        /// It is there: new, or other than it was.
        case changed
        /// As `changed`; a link to a collection, the members of which the journal has where they are.
        case linkedCollection
        /// Nothing is there any more.
        case removed
    }

    /// Of the change; no two have the same.
    public var number: Int64
    /// Of the member: canonical, but for a link in the last place.
    public var path: ResourcePath
    /// What has become of it.
    public var kind: Kind
    /// It is a collection, or was one.
    public var isCollection: Bool

    /// A change, as the journal knows it.
    public init(number: Int64, path: ResourcePath, kind: Kind, isCollection: Bool) {
        self.number = number
        self.path = path
        self.kind = kind
        self.isCollection = isCollection
    }
}

/// Why a journal has no answer.
public enum JournalError: Error, Hashable, Sendable {
    /// The server ends, or another call has found a fault: worth asking again.
    case interrupted
    /// No collection is at the path.
    case gone
    /// A token is not enough to be told everything since, or is no longer: 403 with `valid-sync-token`.
    case forgotten
    /// The folder cannot be read; the status is that of the error.
    case store(StoreError)
    /// The journal's own file cannot be read or written; the status is that of the error.
    case state(StateError)
}

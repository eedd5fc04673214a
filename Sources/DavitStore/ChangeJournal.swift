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
    /// Cost: that of the changes in the share since `after`, up to `limit` that are found.
    /// - Parameters:
    ///   - isDeep: also those of members of members, unless those are gone as a whole.
    ///   - after: numbers up to this one are left out.
    ///   - through: numbers above this one are left out.
    func changes(
        in path: ResourcePath, isDeep: Bool, after: Int64, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange]
}

/// One question to a journal, from ``ChangeJournal/advance(_:)`` to its answer. One task uses it.
public final class JournalPass: Sendable {
    /// The collection that is asked about, canonical.
    public let path: ResourcePath
    /// Whether members of its members are asked about, too.
    public let isDeep: Bool
    private let isBegun = Atomic<Bool>(false)

    /// A new question.
    public init(_ path: ResourcePath, isDeep: Bool) {
        self.path = path
        self.isDeep = isDeep
    }

    /// Whether a folder is asked about.
    public func covers(_ folder: ResourcePath) -> Bool { isDeep ? path.contains(folder) : path == folder }

    /// True the first time it is called.
    public func begin() -> Bool { !isBegun.exchange(true, ordering: .relaxed) }
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
    /// The folder cannot be read; the status is that of the error.
    case store(StoreError)
    /// The journal's own file cannot be read or written; the status is that of the error.
    case state(StateError)
}

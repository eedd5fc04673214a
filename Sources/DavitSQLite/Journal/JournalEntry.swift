package import DavitHTTP
package import DavitStore

/// The recorded state of a member, sufficient to detect that it was replaced or that its entity tag has
/// changed.
package struct JournalEntry: Hashable, Sendable {
    package enum Kind: Int64, Sendable {
        /// A name that exists but is not served now and may be later, usually that of a link. Reported
        /// neither as a member nor as a removal.
        case hidden = 0
        case content = 1
        case collection = 2
        /// A link to a collection. The link is a member; the members of the collection are recorded under the
        /// canonical path of the collection.
        case linkedCollection = 3
    }

    /// The kind of the member; for a removed one, its last kind, or content if unknown.
    package var kind: Kind
    /// Whether the member no longer exists.
    package var isRemoved = false
    /// Whether the member can change without an event in its folder, because it has other hard links or is a
    /// link.
    package var isVolatile = false
    package var identity = ResourceIdentity(inode: 0, birth: 0)
    package var length: Int64 = 0
    /// The modification time in nanoseconds since the epoch.
    package var modified: Int64 = 0
    package var stamp: UInt64 = 0
    /// Whether content had other hard links when it was last examined; not stored in the database.
    package private(set) var hasOtherNames = false

    /// Creates the entry of a removed member.
    /// - Parameters:
    ///   - entry: the last recorded state; nil if there is none.
    ///   - isHidden: whether a link that is not served has taken its place.
    package init(removed entry: JournalEntry?, isHidden: Bool) {
        kind = entry?.kind == .hidden ? .content : entry?.kind ?? .content
        isRemoved = true
        isVolatile = isHidden
    }

    package static let hidden = JournalEntry()

    private init() {
        kind = .hidden
        isVolatile = true
    }

    /// Whether the entry is an existing member.
    package var isMember: Bool { !isRemoved && kind != .hidden }

    /// - Parameter isLink: whether the member is a link to the resource that `info` describes.
    package init(_ info: ResourceInfo, isLink: Bool) {
        kind = info.isCollection ? (isLink ? .linkedCollection : .collection) : .content
        identity = info.identity
        isVolatile = isLink
        // Only the identity of a collection is recorded, because its timestamps change with its members.
        guard !info.isCollection else { return }
        isVolatile = isLink || info.hasOtherNames
        hasOtherNames = info.hasOtherNames
        length = info.length
        modified = info.modified.nanoseconds
        stamp = info.stamp
    }

    /// Whether the difference from `other` is a change to report.
    package func differs(from other: JournalEntry) -> Bool {
        var same = other
        same.isVolatile = isVolatile
        same.hasOtherNames = hasOtherNames
        return same != self
    }

    var values: [SQLValue] {
        [
            .integer(isRemoved ? -kind.rawValue : kind.rawValue), .integer(isVolatile ? 1 : 0),
            .bits(identity.inode),
            .integer(identity.birth), .integer(length), .integer(modified), .bits(stamp),
        ]
    }

    /// Creates an entry from seven columns, starting with `column`.
    init(_ row: borrowing ResultRow, _ column: Int32) {
        let number = row.integer(column)
        kind = Kind(rawValue: abs(number)) ?? .content
        isRemoved = number < 0
        isVolatile = row.flag(column + 1)
        identity = ResourceIdentity(
            inode: UInt64(bitPattern: row.integer(column + 2)), birth: row.integer(column + 3))
        length = row.integer(column + 4)
        modified = row.integer(column + 5)
        stamp = UInt64(bitPattern: row.integer(column + 6))
    }
}

/// A folder in the journal.
package struct JournalFolder: Hashable, Sendable {
    package let id: Int64
    package let path: ResourcePath
    /// The identity of the folder when it was last read; 0 if it has not been read since it was added, or no
    /// longer exists.
    package var identity: ResourceIdentity
}

package import DavitHTTP
package import DavitStore

/// What the journal knows of a member: enough to see that it is another one, or has another entity tag.
package struct JournalEntry: Hashable, Sendable {
    package enum Kind: Int64, Sendable {
        /// A link that leads to nothing that is served, but may one day: no member, and none that is removed.
        case hidden = 0
        case content = 1
        case collection = 2
        /// A link that leads to a collection: a member, whose own members are at another place.
        case linkedCollection = 3
    }

    /// Of what is removed, what it was; content if nobody knows.
    package var kind: Kind
    /// Nothing is there any more.
    package var isRemoved = false
    /// It can change without an event in its folder: it has other names, or is a link.
    package var isVolatile = false
    package var identity = ResourceIdentity(inode: 0, birth: 0)
    package var length: Int64 = 0
    /// Nanoseconds since the epoch.
    package var modified: Int64 = 0
    package var stamp: UInt64 = 0

    /// What is left of a member.
    /// - Parameters:
    ///   - entry: as it was seen last; nil if it never was.
    ///   - isHidden: whether a link is in its place.
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

    /// A member is there.
    package var isMember: Bool { !isRemoved && kind != .hidden }

    /// - Parameter isLink: whether the member is a link to what `info` is about.
    package init(_ info: ResourceInfo, isLink: Bool) {
        kind = info.isCollection ? (isLink ? .linkedCollection : .collection) : .content
        identity = info.identity
        isVolatile = isLink
        // Of a collection nothing counts but which one it is: its times change with its members.
        guard !info.isCollection else { return }
        isVolatile = isLink || info.hasOtherNames
        length = info.length
        modified = info.modified.nanoseconds
        stamp = info.stamp
    }

    /// Whether somebody who has seen `other` has to be told.
    package func differs(from other: JournalEntry) -> Bool {
        var same = other
        same.isVolatile = isVolatile
        return same != self
    }

    var values: [SQLValue] {
        [
            .integer(isRemoved ? -kind.rawValue : kind.rawValue), .integer(isVolatile ? 1 : 0),
            .bits(identity.inode),
            .integer(identity.birth), .integer(length), .integer(modified), .bits(stamp),
        ]
    }

    /// From seven columns, the first of which is `column`.
    init(_ row: borrowing Row, _ column: Int32) {
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

/// A folder of the journal.
package struct JournalFolder: Hashable, Sendable {
    package let id: Int64
    package let path: ResourcePath
    /// Which one it was when it was read; 0 if it never was.
    package var identity: ResourceIdentity
}

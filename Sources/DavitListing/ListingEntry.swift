public import DavitHTTP

/// A row of the listing.
public struct ListingEntry: Hashable, Sendable {
    /// One segment, as stored; not necessarily UTF-8.
    public var name: [UInt8]
    public var isCollection: Bool
    /// The length of the content in bytes; not shown for a collection.
    public var length: Int64
    public var modified: Timestamp

    /// Whether the time is known to the client: not for a collection that it can only pass through, whose time is that of
    /// 1970.
    public var hasTime: Bool { !isCollection || modified != Timestamp(seconds: 0) }

    public init(name: [UInt8], isCollection: Bool, length: Int64, modified: Timestamp) {
        self.name = name
        self.isCollection = isCollection
        self.length = length
        self.modified = modified
    }

    /// The display order: collections first, then natural order by name.
    public static func precedes(_ a: ListingEntry, _ b: ListingEntry) -> Bool {
        if a.isCollection != b.isCollection { return a.isCollection }
        return NaturalOrder.precedes(a.name, b.name)
    }
}

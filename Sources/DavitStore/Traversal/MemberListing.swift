package import DavitHTTP

/// The members of one collection, in directory order (unsorted).
///
/// This is the only type that opens collections of a share for clients: traversals of trees, pages and the
/// journal read members through it, so a condition that hides members needs to be checked only here. Stores
/// use the cursors of other stores directly.
///
/// Used by one task at a time. Its calls block.
package struct MemberListing {
    private let cursor: any MemberCursor

    /// - Parameter path: canonical.
    /// - Throws: an error if the collection is missing or cannot be read.
    package init(of path: ResourcePath, in resources: any ResourceReader) throws(StoreError) {
        cursor = try resources.members(of: path)
    }

    /// See ``MemberCursor/next(_:)``.
    package func next(_ member: inout Member) throws(StoreError) -> Bool { try cursor.next(&member) }

    /// Returns the next members; empty at the end.
    package func next() throws(StoreError) -> [Member] { try cursor.next() }

    /// See ``MemberCursor/linksLeftOut``.
    package var linksLeftOut: [[UInt8]] { cursor.linksLeftOut }
}

public import DavitHTTP

/// A collection that a store keeps open between the calls of one change. Only the store knows what it is.
public protocol OpenCollection: AnyObject, Sendable {}

/// What a change is about: a canonical path, and the collection it is a member of, if a look-up has left that
/// open. Calls that get it do not resolve the path again, and all happen in one collection whatever becomes of
/// its name meanwhile.
public struct Place: Sendable {
    public let path: ResourcePath
    /// Nil if each call has to open it by its path.
    public let collection: (any OpenCollection)?

    public init(_ path: ResourcePath, in collection: (any OpenCollection)? = nil) {
        self.path = path
        self.collection = collection
    }
}

/// The same calls for those who have looked nothing up.
extension ResourceStore {
    public func stageContent(
        for path: ResourcePath, expectedLength: Int64?
    ) throws(StoreError) -> any StagedContent {
        try stageContent(for: Place(path), expectedLength: expectedLength)
    }

    /// With all members, however deep.
    public func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool
    ) throws(StoreError) -> any StagedTree {
        try stageCopy(
            of: source, for: destination, includesMembers: includesMembers, rules: nil, heightLimit: .max)
    }

    public func createCollection(at path: ResourcePath) throws(StoreError) {
        try createCollection(at: Place(path))
    }

    public func rename(_ source: ResourcePath, overContent destination: ResourcePath) throws(StoreError) {
        try rename(Place(source), overContent: Place(destination))
    }

    public func removeContent(at path: ResourcePath) throws(StoreError) {
        try removeContent(at: Place(path))
    }
}

extension StagedContent {
    public func write(_ buffer: IOBuffer) throws(StoreError) { try write(buffer, wait: .allowed) }
}

public import DavitHTTP

/// A collection that a store keeps open between the calls of one change. Opaque to all other code.
public protocol OpenCollection: AnyObject, Sendable {}

/// The target of a change: a canonical path and the collection that contains it, if a lookup has left that
/// collection open. Calls that receive the collection do not resolve the path again, and all of them take
/// effect in that collection even if it is renamed in the meantime.
public struct ResourceLocation: Sendable {
    public let path: ResourcePath
    /// The open collection; nil if each call must open the collection by its path.
    public let collection: (any OpenCollection)?

    public init(_ path: ResourcePath, in collection: (any OpenCollection)? = nil) {
        self.path = path
        self.collection = collection
    }
}

/// Variants for callers that have not looked up the path.
extension ResourceStore {
    public func stageContent(
        for path: ResourcePath, expectedLength: Int64?
    ) throws(StoreError) -> any StagedContent {
        try stageContent(for: ResourceLocation(path), expectedLength: expectedLength, replaces: false)
    }

    /// If `includesMembers` is true, copies all members, regardless of their names and depth.
    public func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool
    ) throws(StoreError) -> any StagedTree {
        try stageCopy(
            of: source, for: destination, includesMembers: includesMembers, filter: nil, heightLimit: .max)
    }

    public func createCollection(at path: ResourcePath) throws(StoreError) {
        try createCollection(at: ResourceLocation(path))
    }

    public func rename(_ source: ResourcePath, overContent destination: ResourcePath) throws(StoreError) {
        try rename(ResourceLocation(source), overContent: ResourceLocation(destination))
    }

    public func removeContent(at path: ResourcePath) throws(StoreError) {
        try removeContent(at: ResourceLocation(path))
    }
}

extension StagedContent {
    public func write(_ buffer: IOBuffer) throws(StoreError) { try write(buffer, wait: .allowed) }
}

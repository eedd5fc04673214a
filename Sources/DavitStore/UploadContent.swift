/// New content that is written by several requests. It has a hidden name in the collection of its target, and
/// persists when this object is released and when the process ends. An upload record refers to it; content
/// without a record is a leftover and is removed.
public protocol UploadContent: StagedContent {
    /// The hidden name of the content in the collection of ``StagedContent/location``.
    var stagedName: [UInt8] { get }
    /// The file identity, which stays the same when the content is published.
    var identity: ResourceIdentity { get }
    /// Checks that content of `length` bytes fits on the volume.
    /// - Throws: `outOfSpace` and `quotaExceeded`, before anything is written.
    func checkRoom(for length: Int64) throws(StoreError)
    /// Discards the bytes after `length`.
    func truncate(to length: Int64) throws(StoreError)
    /// Whether the reopened content has another hard link, which means that a crash interrupted a rename on a
    /// volume where renaming takes two steps.
    var hasOtherName: Bool { get }
    /// Whether other servers can change the content while it is not open.
    var isShared: Bool { get }
    /// Makes this object the only one that may change the content, if several servers use it. Called for each request that
    /// takes over the upload, unless the content was just opened.
    /// - Returns: false if another server has used it since, so that it must be opened again.
    func takeTurn() throws(StoreError) -> Bool
    /// Removes the content.
    func remove() throws(StoreError)
}

extension UploadContent {
    /// False, for stores that one server uses.
    public var isShared: Bool { false }
    /// True, for stores that one server uses.
    public func takeTurn() throws(StoreError) -> Bool { true }
}

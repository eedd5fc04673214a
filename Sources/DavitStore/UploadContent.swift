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
    /// Removes the content.
    func remove() throws(StoreError)
}

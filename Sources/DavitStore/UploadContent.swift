/// New content that is written by several requests. It has a hidden name in the collection of its target and
/// is kept when this object is released and when the process ends. An upload record refers to it; without a
/// record it is a leftover and removed.
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
    /// Whether the reopened content has another hard link: on volumes where a rename takes two steps, a crash
    /// interrupted the rename.
    var hasOtherName: Bool { get }
    /// Removes the content.
    func remove() throws(StoreError)
}

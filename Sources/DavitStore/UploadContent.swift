/// New content that goes on over several requests: under a hidden name beside its target, where it stays when this object
/// goes and when the process ends. Its record says what it is; without one it is a leftover, and removed.
public protocol UploadContent: StagedContent {
    /// Its name in the collection of ``StagedContent/place``.
    var stagedName: [UInt8] { get }
    /// Which file it is, now and when it is published.
    var identity: ResourceIdentity { get }
    /// - Throws: `outOfSpace` and `quotaExceeded`, before anything is written.
    func checkRoom(for length: Int64) throws(StoreError)
    /// Forgets the bytes from `length` on.
    func truncate(to length: Int64) throws(StoreError)
    /// It was opened and has another name besides: where a rename takes two steps, a crash came between them.
    var hasOtherName: Bool { get }
    /// Removes it.
    func remove() throws(StoreError)
}

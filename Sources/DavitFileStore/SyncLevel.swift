/// What a change of files that was answered survives besides the death of the process, which it always does.
public enum SyncLevel: String, CaseIterable, Sendable {
    /// Nothing is waited for. After a loss of power a file that was new may be short or empty.
    case none
    /// The loss of power, for content: it is on the disk before it gets its name.
    case data
    /// The loss of power: content, and the names that were given and taken.
    case full
}

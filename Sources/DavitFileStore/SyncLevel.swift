/// The failures that acknowledged changes survive. All changes survive the end of the process.
public enum SyncLevel: String, CaseIterable, Sendable {
    /// Changes are not synced. After a power loss, a new file may be short or empty.
    case none
    /// Content is synced before it gets its name. After a power loss, recent names can be missing, but no
    /// new file is short or empty.
    case data
    /// Content, added names and removed names survive a power loss.
    case full
}

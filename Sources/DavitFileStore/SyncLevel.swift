/// The failures that acknowledged changes survive. All changes survive the end of the process.
public enum SyncLevel: String, CaseIterable, Sendable {
    /// Changes are not synced. After a power loss, a new file may be short or empty.
    case none
    /// Content survives a power loss: it is synced before it gets its name.
    case data
    /// Content, added names and removed names survive a power loss.
    case full
}
